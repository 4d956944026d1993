import RTCPrimitives
import RTCTURN
import RTCWire

/// A TURN server whose clients, peers and clock are controlled by the input: a list of steps, the kind first, then its values.
/// Clients know their passwords, so that their requests can be authentic. A message has at most one answer, data goes only to
/// allowed peers and to clients with an allocation, ports are closed with their allocations, and everything ends when time passes.
public func fuzzTURNServer(_ bytes: Span<UInt8>) {
  var reader = ByteReader(bytes)
  var model = TURNServerModel(allowsPrivatePeers: (reader.readUInt8() ?? 0) & 1 == 1)
  var steps = 0
  while steps < 300, let kind = reader.readUInt8() {
    model.run(kind, &reader)
    steps += 1
  }
  model.end()
}

private struct TURNServerModel: ~Copyable {
  private static let relayIP = IPAddress.v4(0xCB00_710A)
  private static let users = ["ada", "bob"]
  private static let realm = Array("rtcast".utf8)
  private static let clients: [Route] = (1...4).map { number in
    Route(
      local: SocketAddress(ip: relayIP, port: 3_478),
      remote: SocketAddress(ip: .v4(0xC000_0200 + UInt32(number & 2)), port: 1_000 + UInt16(number)),
      kind: number == 4 ? .stream(1) : .udp(port: 0))
  }
  /// Ordinary peers, and some that are never allowed.
  private static let peers: [SocketAddress] = [
    SocketAddress(ip: .v4(0xC633_6401), port: 5_000), SocketAddress(ip: .v4(0xC633_6402), port: 53),
    SocketAddress(ip: .v4(0x0A00_0001), port: 5_000), SocketAddress(ip: .loopbackV4, port: 5_000),
    SocketAddress(ip: .v4(0xE000_0001), port: 5_000), SocketAddress(ip: relayIP, port: 22),
    SocketAddress(ip: relayIP, port: 20_001),
    SocketAddress(ip: .v6(high: 0, low: 0xFFFF_7F00_0001, scope: 0), port: 9_000),
  ]
  private static let methods: [STUNMethod] = [.allocate, .refresh, .createPermission, .channelBind, .binding, .send]

  private let allowsPrivatePeers: Bool
  private var server: TURNServer
  private var now = Timestamp.zero + .seconds(100)
  private var out = TURNServerOutbox(capacity: 16 * 1_024)
  private var open: [Route.Kind: SocketAddress] = [:]
  private var nextPort: UInt16 = 20_000
  private var failsToOpen = false
  private var nonces: [[UInt8]] = Array(repeating: [], count: 4)

  init(allowsPrivatePeers: Bool) {
    self.allowsPrivatePeers = allowsPrivatePeers
    var configuration = TURNServerConfiguration(users: .fixed(["ada": "a", "bob": "b"]))
    configuration.allowsPrivatePeers = allowsPrivatePeers
    configuration.relayIPs = [Self.relayIP]
    configuration.ownIPs = [Self.relayIP]
    configuration.limits.allocations = 3
    configuration.limits.allocationsPerUser = 2
    configuration.limits.permissions = 4
    configuration.limits.channels = 4
    server = TURNServer(configuration, nonceKey: [1])
  }

  mutating func run(_ kind: UInt8, _ reader: inout ByteReader) {
    let client = Int(kind >> 3) & 3
    switch kind & 7 {
    case 0:
      // Anything at all.
      let count = min(Int(reader.readUInt8() ?? 0), reader.remaining)
      guard let bytes = reader.read(count) else { return }
      server.receive(bytes, from: Self.clients[client], now: now, into: &out)
      settle(answers: 1)
    case 1, 2, 3: request(client, &reader)
    case 4:
      let (number, count) = (0x4000 + UInt16(reader.readUInt8() ?? 0) % 8, Int(reader.readUInt8() ?? 0))
      let bytes = [UInt8(number >> 8), UInt8(number & 255), 0, UInt8(count)] + Array(repeating: UInt8(7), count: count)
      server.receive(bytes.span, from: Self.clients[client], now: now, into: &out)
      settle(answers: 1)
    case 5:
      let peer = Self.peers[Int(reader.readUInt8() ?? 0) % Self.peers.count]
      guard let port = open.keys.min(by: { "\($0)" < "\($1)" }) else { return }
      let data = [UInt8](repeating: 9, count: Int(reader.readUInt8() ?? 0))
      server.receive(data.span, at: port, from: peer, now: now, into: &out)
      settle(answers: 1)
    case 6: wait(.seconds(Int64(reader.readUInt8() ?? 0) * 4))
    default:
      failsToOpen = client & 1 == 1
      if client == 3 {
        server.ended(Self.clients[client], into: &out)
        settle(answers: 0)
      }
    }
  }

  private mutating func wait(_ time: TimeDelta) {
    now += time
    server.expire(now: now, into: &out)
    settle(answers: 0)
    precondition(server.nextDeadline > now, "the deadline moves on")
  }

  /// A request or Send indication with attributes from the input, and credentials that are right unless the input says otherwise.
  private mutating func request(_ client: Int, _ reader: inout ByteReader) {
    let choice = reader.readUInt8() ?? 0
    let method = Self.methods[Int(choice & 7) % Self.methods.count]
    let user = Self.users[Int(choice >> 3) & 1]
    let key = STUNIntegrityKey(
      username: Array(user.utf8).span, realm: Self.realm.span, password: Array(user.utf8.prefix(1)).span)
    let id = STUNTransactionID(high: 1, low: UInt64(choice >> 4))
    let (isIndication, nonce) = (method == .send, nonces[client])
    var bytes = [UInt8](repeating: 0, count: 2_048)
    var count = 0
    do {
      var span = bytes.mutableSpan
      var writer = STUNMessageWriter(
        isIndication ? .indication : .request, method: method, transactionID: id,
        into: span._mutatingExtracting(0..<2_048))
      Self.writeAttributes(&reader, &writer)
      if !isIndication {
        writer.write(.username, Array(user.utf8).span)
        writer.write(.realm, Self.realm.span)
        writer.write(.nonce, nonce.span)
      }
      count = writer.finish(key: choice & 0x80 == 0 ? key : nil)
    }
    server.receive(bytes.span.extracting(0..<count), from: Self.clients[client], now: now, into: &out)
    settle(answers: 1)
  }

  private static func writeAttributes(_ reader: inout ByteReader, _ writer: inout STUNMessageWriter) {
    for _ in 0..<Int((reader.readUInt8() ?? 0) & 3) {
      let value = reader.readUInt8() ?? 0
      switch value & 15 {
      case 0, 1: writer.write(.requestedTransport, UInt32(value & 16 == 0 ? 17 : 6) << 24)
      case 2, 3, 4: writer.writeXorAddress(.xorPeerAddress, peers[Int(value >> 4) % peers.count])
      case 5: writer.write(.lifetime, UInt32(value >> 4) * 100)
      case 6, 7: writer.write(.channelNumber, (0x4000 + UInt32(value >> 4)) << 16)
      case 8: writer.write(.requestedAddressFamily, value & 16 == 0 ? .v4 : .v6)
      case 9: writer.write(.additionalAddressFamily, value & 16 == 0 ? .v4 : .v6)
      case 10: writer.write(STUNAttributeType(0x18), [value].span)
      case 11: writer.write(.data, Array(repeating: value, count: Int(value)).span)
      default:
        let count = min(Int(value >> 4), reader.remaining)
        if let bytes = reader.read(count) { writer.write(STUNAttributeType(UInt16(value) << 2), bytes) }
      }
    }
  }

  private mutating func settle(answers: Int) {
    while !out.actions.isEmpty {
      let actions = out.actions
      out.actions = []
      for action in actions {
        switch action {
        case .open(let number, let ips, let isEven):
          var relays: [TURNRelay] = []
          for ip in ips where !failsToOpen {
            nextPort = isEven ? (nextPort | 1) &+ 1 : nextPort &+ 1
            relays.append(TURNRelay(kind: .udp(port: nextPort), local: SocketAddress(ip: ip, port: nextPort)))
          }
          for relay in relays { open[relay.kind] = relay.local }
          server.opened(number, relays, now: now, into: &out)
        case .close(let kind): precondition(open.removeValue(forKey: kind) != nil, "a port is closed once")
        }
      }
    }
    check(answers)
    out.datagrams.removeAll()
    precondition(server.counters.allocations <= 3 && open.count == server.counters.allocations)
  }

  private mutating func check(_ answers: Int) {
    precondition(out.datagrams.count <= answers, "a message has at most one answer")
    for index in out.datagrams.entries.indices {
      let route = out.datagrams.entries[index].route
      if let client = Self.clients.firstIndex(of: route) {
        if let nonce = nonce(in: index) { nonces[client] = nonce }
        continue
      }
      precondition(open[route.kind] == route.local, "data leaves by an open port")
      let isPrivate = route.remote.ip == .v4(0x0A00_0001)
      precondition(
        route.remote == Self.peers[0] || route.remote.ip == Self.peers[0].ip || isPrivate && allowsPrivatePeers
          || !Self.peers.contains { $0.ip == route.remote.ip },
        "data goes only to allowed peers")
    }
  }

  private func nonce(in index: Int) -> [UInt8]? {
    guard let message = try? STUNMessage(parsing: out.datagrams.datagram(index)), let nonce = message.nonce else {
      return nil
    }
    return [UInt8](copying: nonce)
  }

  mutating func end() {
    for _ in 0..<2 { wait(.seconds(3_600)) }
    precondition(open.isEmpty && server.counters.allocations == 0 && server.nextDeadline == .distantFuture)
  }
}
