import RTCPrimitives
import RTCTURN
import RTCWire

/// A server on virtual time, whose relayed ports are opened at once, and messages to it.
struct ServerKit: ~Copyable {
  static let client = route("192.0.2.7", 5_000)
  static let other = route("192.0.2.8", 6_000)
  static let peer = address("198.51.100.20", 7_000)
  static let relayIP = IPAddress("203.0.113.10")!

  var server: TURNServer
  var now = Timestamp.zero + .seconds(1_000)
  var out = TURNServerOutbox(capacity: 4_096)
  /// The answers and relayed data since they were last taken, in order.
  var sent: [(route: Route, bytes: [UInt8])] = []
  /// Ports that were opened and not closed.
  var open: [Route.Kind: SocketAddress] = [:]
  /// Whether ports can be opened.
  var hasPorts = true
  private var nextPort: UInt16 = 50_000
  private var nextID: UInt64 = 1

  init(_ change: (inout TURNServerConfiguration) -> Void = { _ in }) {
    var configuration = TURNServerConfiguration(users: .fixed(["user": "secret", "else": "secret"]))
    configuration.relayIPs = [Self.relayIP]
    configuration.ownIPs = [Self.relayIP]
    change(&configuration)
    server = TURNServer(configuration, nonceKey: [1, 2, 3])
  }

  static func address(_ ip: String, _ port: UInt16) -> SocketAddress { SocketAddress(ip: IPAddress(ip)!, port: port) }

  static func route(_ ip: String, _ port: UInt16) -> Route {
    let remote = address(ip, port)
    let local = remote.ip.isV4 ? SocketAddress(ip: relayIP, port: 3_478) : address("2001:db8::1", 3_478)
    return Route(local: local, remote: remote)
  }

  // MARK: - Time and bytes

  mutating func wait(_ seconds: Int64) {
    now += .seconds(seconds)
    server.expire(now: now, into: &out)
    settle()
  }

  mutating func send(_ bytes: [UInt8], from client: Route = Self.client) {
    server.receive(bytes.span, from: client, now: now, into: &out)
    settle()
  }

  /// A datagram of a peer to the first open relayed address.
  mutating func arrive(_ bytes: [UInt8], from peer: SocketAddress = Self.peer) {
    guard let kind = open.keys.first else { return }
    server.receive(bytes.span, at: kind, from: peer, now: now, into: &out)
    settle()
  }

  private mutating func settle() {
    while !out.actions.isEmpty {
      let actions = out.actions
      out.actions = []
      for action in actions {
        switch action {
        case .open(let number, let ips, let isEven):
          var relays: [TURNRelay] = []
          for ip in ips where hasPorts {
            nextPort += isEven && nextPort % 2 == 1 ? 1 : 2
            relays.append(TURNRelay(kind: .udp(port: nextPort), local: SocketAddress(ip: ip, port: nextPort)))
          }
          for relay in relays { open[relay.kind] = relay.local }
          server.opened(number, relays, now: now, into: &out)
        case .close(let kind): open[kind] = nil
        }
      }
    }
    for index in out.datagrams.entries.indices {
      sent.append((out.datagrams.entries[index].route, [UInt8](copying: out.datagrams.datagram(index))))
    }
    out.datagrams.removeAll()
  }

  /// Takes what was sent.
  mutating func take() -> [(route: Route, bytes: [UInt8])] {
    defer { sent = [] }
    return sent
  }

  // MARK: - Requests

  /// An answer, as a test reads it.
  struct Answer: Equatable {
    var code: UInt16?
    var lifetime: UInt32?
    var relayed: [SocketAddress] = []
    var mapped: SocketAddress?
    var nonce: [UInt8]?
    var isAuthentic = false
    var unknown: [STUNAttributeType] = []
  }

  private static func key(_ user: String) -> STUNIntegrityKey {
    STUNIntegrityKey(
      username: Array(user.utf8).span, realm: Array("rtcast".utf8).span, password: Array("secret".utf8).span)
  }

  mutating func freshID() -> STUNTransactionID {
    nextID += 1
    return STUNTransactionID(high: 7, low: nextID)
  }

  /// Sends a request without credentials.
  mutating func ask(
    _ method: STUNMethod, from client: Route = Self.client, _ body: (inout STUNMessageWriter) -> Void = { _ in }
  ) -> Answer? {
    let id = freshID()
    send(Self.message(.request, method, id, body), from: client)
    return answer(id, user: nil)
  }

  /// The nonce of the server for this client.
  mutating func nonce(for client: Route = Self.client) -> [UInt8] { ask(.refresh, from: client)?.nonce ?? [] }

  /// Sends a request with credentials and a fresh nonce.
  mutating func request(
    _ method: STUNMethod, from client: Route = Self.client, user: String = "user", id: STUNTransactionID? = nil,
    nonce: [UInt8]? = nil, _ body: (inout STUNMessageWriter) -> Void = { _ in }
  ) -> Answer? {
    let nonce = nonce ?? self.nonce(for: client)
    let id = id ?? freshID()
    let bytes = Self.message(.request, method, id, key: Self.key(user)) { writer in
      body(&writer)
      writer.write(.username, Array(user.utf8).span)
      writer.write(.realm, Array("rtcast".utf8).span)
      writer.write(.nonce, nonce.span)
    }
    send(bytes, from: client)
    return answer(id, user: user)
  }

  mutating func allocate(
    from client: Route = Self.client, user: String = "user", id: STUNTransactionID? = nil, lifetime: UInt32? = nil
  ) -> Answer? {
    request(.allocate, from: client, user: user, id: id) { writer in
      writer.write(.requestedTransport, 17 << 24)
      if let lifetime { writer.write(.lifetime, lifetime) }
    }
  }

  mutating func permit(_ peers: [SocketAddress], from client: Route = Self.client) -> Answer? {
    request(.createPermission, from: client) { writer in
      for peer in peers { writer.writeXorAddress(.xorPeerAddress, peer) }
    }
  }

  mutating func bind(_ number: UInt16, to peer: SocketAddress, from client: Route = Self.client) -> Answer? {
    request(.channelBind, from: client) { writer in
      writer.write(.channelNumber, UInt32(number) << 16)
      writer.writeXorAddress(.xorPeerAddress, peer)
    }
  }

  static func message(
    _ class: STUNClass, _ method: STUNMethod, _ id: STUNTransactionID, key: STUNIntegrityKey? = nil,
    _ body: (inout STUNMessageWriter) -> Void
  ) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    var count = 0
    do {
      var span = bytes.mutableSpan
      var writer = STUNMessageWriter(
        `class`, method: method, transactionID: id, into: span._mutatingExtracting(0..<4_096))
      body(&writer)
      count = writer.finish(key: key)
    }
    return Array(bytes.prefix(count))
  }

  mutating func indicate(_ data: [UInt8], to peer: SocketAddress, from client: Route = Self.client) {
    send(
      Self.message(.indication, .send, freshID()) { writer in
        writer.writeXorAddress(.xorPeerAddress, peer)
        writer.write(.data, data.span)
      }, from: client)
  }

  mutating func channelData(_ data: [UInt8], _ number: UInt16, from client: Route = Self.client) {
    send(
      [UInt8(number >> 8), UInt8(number & 255), UInt8(data.count >> 8), UInt8(data.count & 255)] + data, from: client)
  }

  private mutating func answer(_ id: STUNTransactionID, user: String?) -> Answer? {
    for (place, one) in sent.enumerated() {
      guard let message = try? STUNMessage(parsing: one.bytes.span), message.header.transactionID == id else {
        continue
      }
      var nonce: [UInt8]?
      if let span = message.nonce { nonce = [UInt8](copying: span) }
      let answer = Answer(
        code: message.errorCode?.code, lifetime: message.lifetime, relayed: message.xorRelayedAddresses,
        mapped: message.xorMappedAddress, nonce: nonce,
        isAuthentic: user.map { message.isAuthentic(key: Self.key($0)) } ?? false, unknown: message.unknownAttributes)
      sent.remove(at: place)
      return answer
    }
    return nil
  }
}
