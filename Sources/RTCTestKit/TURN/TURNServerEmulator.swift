package import RTCPrimitives
package import RTCWire

/// A STUN and TURN server on virtual time (RFC 8489, RFC 8656), without sockets: strict with its clients, and as wicked as its
/// options say. The network around it is the owner's.
package struct TURNServerEmulator {
  /// A client: an address, by UDP or by a stream.
  package struct Client: Hashable, Sendable {
    /// The address as the server sees it.
    package var address: SocketAddress
    /// By TCP or TLS.
    package var isStream: Bool

    /// A client by UDP unless said otherwise.
    package init(address: SocketAddress, isStream: Bool = false) {
      self.address = address
      self.isStream = isStream
    }
  }

  /// A datagram of the server.
  package enum Output: Equatable, Sendable {
    case toClient(Client, [UInt8])
    /// From a relayed address to a peer.
    case toPeer(from: SocketAddress, SocketAddress, [UInt8])
  }

  /// The address and behaviour of the server; may be changed at any time.
  package struct Options: Sendable {
    /// The relayed addresses; with an IPv6 one, allocations of both families are possible.
    package var relayIPs: [IPAddress] = [.v4(0xC633_6401)]
    /// The realm of long-term credentials.
    package var realm = "example.org"
    /// Passwords by user name; nil: anybody may do anything.
    package var users: [String: String]? = ["user": "secret"]
    /// How long a nonce may be used.
    package var nonceLifetime = TimeDelta.seconds(600)
    /// Each nonce is stale at once.
    package var isNeverContent = false
    /// In seconds.
    package var lifetime: UInt32 = 600
    /// Allocations of one user.
    package var quota = Int.max
    /// Allocations of all users.
    package var capacity = Int.max
    /// False: ChannelBind is refused.
    package var hasChannels = true
    /// Peers with which no client may exchange datagrams.
    package var forbiddenPeers: Set<IPAddress> = []
    /// The server to which clients that want an allocation are redirected.
    package var alternate: SocketAddress?
    /// The error that each Allocate is answered with, when there is one.
    package var allocationError: STUNErrorCode?
    /// False: error responses have no MESSAGE-INTEGRITY, as Pion's.
    package var authenticatesErrors = true
    /// Responses are made with another password.
    package var forgesIntegrity = false
    /// Whether nothing is answered and nothing relayed.
    package var isDead = false

    /// A strict server of one user, "user" with the password "secret".
    package init() {}
  }

  /// How it behaves from now on.
  package var options: Options
  /// How often each method was asked for, refused requests included.
  package private(set) var requests: [STUNMethod: Int] = [:]
  /// Datagrams from clients to peers that came as Send indications, and as ChannelData.
  package private(set) var relayed = (indications: 0, channelData: 0)
  /// Datagrams that were dropped for the lack of a permission, to either side.
  package private(set) var unpermitted = 0

  var allocations: [Client: TURNServerAllocation] = [:]
  private var nonces: [Client: (text: String, since: Timestamp)] = [:]
  private var nextNonce = 1
  private var nextPort: UInt16 = 49_152

  /// A server that has no clients yet.
  package init(_ options: Options = Options()) { self.options = options }

  /// Allocations that have not expired at `now`.
  package func allocationCount(at now: Timestamp) -> Int { allocations.values.count { $0.expiresAt > now } }

  /// Forgets everything, as when its process starts again.
  package mutating func restart() {
    allocations = [:]
    nonces = [:]
    nextPort += 100
  }

  /// A nonce that was given is stale from now on.
  package mutating func expireNonces() {
    for client in nonces.keys { nonces[client]?.since = .zero - .seconds(1_000_000) }
  }

  // MARK: - Datagrams

  /// Takes a message of a client.
  package mutating func receive(_ bytes: [UInt8], from client: Client, now: Timestamp) -> [Output] {
    guard !options.isDead else { return [] }
    if TURNChannelHeader.isLikely(bytes.span) { return relayChannelData(bytes, from: client, now: now) }
    guard let message = try? STUNMessage(parsing: bytes.span) else { return [] }
    switch message.header.class {
    case .request:
      requests[message.header.method, default: 0] += 1
      return [.toClient(client, answer(message, from: client, now: now))]
    case .indication: return relayIndication(message, from: client, now: now)
    case .success, .error: return []
    }
  }

  /// Takes a datagram of a peer to a relayed address.
  package mutating func receive(
    _ bytes: [UInt8], at relayed: SocketAddress, from peer: SocketAddress, now: Timestamp
  ) -> [Output] {
    guard !options.isDead,
      let (client, allocation) = allocations.first(where: {
        $0.value.relayed.contains(relayed) && $0.value.expiresAt > now
      })
    else { return [] }
    guard allocation.permits(peer.ip, now: now) else {
      unpermitted += 1
      return []
    }
    if let number = allocation.channel(of: peer, now: now) {
      let header = TURNChannelHeader(number: number, length: UInt16(bytes.count)).word
      return [.toClient(client, (0..<4).map { UInt8(truncatingIfNeeded: header >> (24 - 8 * $0)) } + bytes)]
    }
    let message = Self.write(.indication, .data, STUNTransactionID(high: 1, low: UInt64(nextNonce)), key: nil) {
      writer in
      writer.writeXorAddress(.xorPeerAddress, peer)
      writer.write(.data, bytes.span)
    }
    return [.toClient(client, message)]
  }

  private mutating func relayChannelData(_ bytes: [UInt8], from client: Client, now: Timestamp) -> [Output] {
    guard let allocation = allocations[client], allocation.expiresAt > now,
      let header = TURNChannelHeader(parsing: bytes.span), let peer = allocation.peer(of: header.number, now: now)
    else { return [] }
    relayed.channelData += 1
    return relay(Array(bytes[4..<4 + Int(header.length)]), allocation, to: peer, now: now)
  }

  private mutating func relayIndication(_ message: STUNMessage, from client: Client, now: Timestamp) -> [Output] {
    guard message.header.method == .send, let allocation = allocations[client], allocation.expiresAt > now,
      let peer = message.xorPeerAddress, let range = message.dataRange
    else { return [] }
    relayed.indications += 1
    return relay([UInt8](copying: message.bytes.extracting(range)), allocation, to: peer, now: now)
  }

  private mutating func relay(
    _ bytes: [UInt8], _ allocation: TURNServerAllocation, to peer: SocketAddress, now: Timestamp
  ) -> [Output] {
    guard allocation.permits(peer.ip, now: now) else {
      unpermitted += 1
      return []
    }
    guard let own = allocation.relayed.first(where: { $0.ip.isV4 == peer.ip.isV4 }) else { return [] }
    return [.toPeer(from: own, peer, bytes)]
  }

  // MARK: - Requests

  private mutating func answer(_ request: STUNMessage, from client: Client, now: Timestamp) -> [UInt8] {
    let id = request.header.transactionID
    let method = request.header.method
    if method == .binding {
      return Self.write(.success, method, id, key: nil) { $0.writeXorMappedAddress(client.address) }
    }
    var key: STUNIntegrityKey?
    if let users = options.users {
      let realm = Array(options.realm.utf8)
      guard request.hasMessageIntegrity else { return challenge(request, .unauthenticated, client, now: now) }
      guard let name = Self.text(request.username), let password = users[name] else {
        return challenge(request, .unauthenticated, client, now: now)
      }
      let own = STUNIntegrityKey(
        username: Array(name.utf8).span, realm: realm.span, password: Array(password.utf8).span)
      guard request.isAuthentic(key: own) else { return challenge(request, .unauthenticated, client, now: now) }
      guard let nonce = nonces[client], Self.text(request.nonce) == nonce.text, !options.isNeverContent,
        now - nonce.since <= options.nonceLifetime
      else { return challenge(request, .staleNonce, client, now: now) }
      key = options.forgesIntegrity ? STUNIntegrityKey(password: "forged") : own
    }
    let user = Self.text(request.username) ?? ""
    switch execute(request, of: user, client: client, now: now) {
    case .success(let allocation):
      return success(request, allocation, client: client, key: key, now: now)
    case .failure(let error):
      return Self.write(.error, method, id, key: options.authenticatesErrors ? key : nil) { writer in
        writer.write(error.code)
        if let alternate = error.alternate { writer.writeAddress(.alternateServer, alternate) }
      }
    }
  }

  private struct Refusal: Error {
    var code: STUNErrorCode
    var alternate: SocketAddress?
  }

  private mutating func execute(
    _ request: STUNMessage, of user: String, client: Client, now: Timestamp
  ) -> Result<TURNServerAllocation, Refusal> {
    if let allocation = allocations[client], allocation.expiresAt <= now { allocations[client] = nil }
    if request.header.method == .allocate { return allocate(request, of: user, client: client, now: now) }
    guard var allocation = allocations[client] else { return .failure(Refusal(code: .allocationMismatch)) }
    guard allocation.user == user else { return .failure(Refusal(code: .wrongCredentials)) }
    let code: STUNErrorCode? =
      switch request.header.method {
      case .refresh: allocation.refresh(request.lifetime, options, now: now)
      case .createPermission: allocation.permit(request.xorPeerAddresses, options, now: now)
      case .channelBind: allocation.bind(request, options, now: now)
      default: .badRequest
      }
    if let code { return .failure(Refusal(code: code)) }
    allocations[client] = allocation.expiresAt > now ? allocation : nil
    return .success(allocation)
  }

  private mutating func allocate(
    _ request: STUNMessage, of user: String, client: Client, now: Timestamp
  ) -> Result<TURNServerAllocation, Refusal> {
    if let allocation = allocations[client] {
      // The answer was lost (RFC 8656 §7.2).
      return allocation.transaction == request.header.transactionID
        ? .success(allocation) : .failure(Refusal(code: .allocationMismatch))
    }
    if let alternate = options.alternate { return .failure(Refusal(code: .tryAlternate, alternate: alternate)) }
    if let code = options.allocationError { return .failure(Refusal(code: code)) }
    guard request.requestedTransport == 17 else { return .failure(Refusal(code: .unsupportedTransport)) }
    let alive = allocations.values.filter { $0.expiresAt > now }
    guard alive.count < options.capacity else { return .failure(Refusal(code: .insufficientCapacity)) }
    guard alive.count(where: { $0.user == user }) < options.quota else {
      return .failure(Refusal(code: .allocationQuotaReached))
    }
    let wantsV6 = request.requestedAddressFamily == .v6
    var families = [wantsV6]
    if request.additionalAddressFamily == .v6 { families.append(true) }
    let ips = families.compactMap { isV6 in options.relayIPs.first { $0.isV4 != isV6 } }
    guard let first = ips.first, first.isV4 != wantsV6 else {
      return .failure(Refusal(code: .addressFamilyNotSupported))
    }
    nextPort += 1
    let allocation = TURNServerAllocation(
      user: user, transaction: request.header.transactionID,
      relayed: ips.map { SocketAddress(ip: $0, port: nextPort) },
      expiresAt: now + .seconds(Int64(options.lifetime)))
    allocations[client] = allocation
    return .success(allocation)
  }

  // MARK: - Responses

  private func success(
    _ request: STUNMessage, _ allocation: TURNServerAllocation, client: Client, key: STUNIntegrityKey?, now: Timestamp
  ) -> [UInt8] {
    let method = request.header.method
    let lifetime = UInt32(max(0, (allocation.expiresAt - now).seconds))
    return Self.write(.success, method, request.header.transactionID, key: key) { writer in
      if method == .allocate {
        for address in allocation.relayed { writer.writeXorAddress(.xorRelayedAddress, address) }
        writer.writeXorMappedAddress(client.address)
      }
      if method == .allocate || method == .refresh { writer.write(.lifetime, lifetime) }
    }
  }

  private mutating func challenge(
    _ request: STUNMessage, _ code: STUNErrorCode, _ client: Client, now: Timestamp
  ) -> [UInt8] {
    if code == .staleNonce || nonces[client] == nil {
      nonces[client] = ("nonce-\(nextNonce)", now)
      nextNonce += 1
    }
    let nonce = nonces[client]?.text ?? ""
    let realm = options.realm
    return Self.write(.error, request.header.method, request.header.transactionID, key: nil) { writer in
      writer.write(code)
      writer.write(.realm, Array(realm.utf8).span)
      writer.write(.nonce, Array(nonce.utf8).span)
    }
  }

  private static func write(
    _ class: STUNClass, _ method: STUNMethod, _ id: STUNTransactionID, key: STUNIntegrityKey?,
    _ body: (inout STUNMessageWriter) -> Void
  ) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    var span = bytes.mutableSpan
    var writer = STUNMessageWriter(
      `class`, method: method, transactionID: id, into: span._mutatingExtracting(0..<span.count))
    body(&writer)
    let count = writer.finish(key: key)
    return Array(bytes.prefix(count))
  }

  private static func text(_ span: Span<UInt8>?) -> String? {
    guard let span else { return nil }
    return String(decoding: [UInt8](copying: span), as: UTF8.self)
  }
}
