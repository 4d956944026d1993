import RTCICE
import RTCPrimitives
import RTCWire

/// An ICE agent whose peer, routes and clock are controlled by the input: a list of steps, the kind first, then its
/// values. The peer knows its passwords, so its hand-written messages can be authentic. Media never uses a route
/// without an answered check, nothing is sent without end, and when the peer falls silent, everything ends within the
/// time limits of consent and agent.
public func fuzzICE(_ bytes: Span<UInt8>) {
  var reader = ByteReader(bytes)
  let flags = reader.readUInt8() ?? 0
  var model = ICEModel(role: flags & 1 == 0 ? .controlling : .controlled, hosts: 1 + Int(flags >> 1) % 4)
  if flags & 0x80 != 0 { model.describe(0, isLite: flags & 0x40 != 0) }
  var steps = 0
  while steps < 300, let kind = reader.readUInt8() {
    model.run(kind, &reader)
    steps += 1
  }
  model.fallSilent()
}

private struct ICEModel: ~Copyable {
  /// A check or consent check of the agent's that may be answered.
  private struct Request {
    let id: STUNTransactionID
    let route: Route
  }

  private static let locals = (1...4).map { SocketAddress(ip: .v4(0x0A00_0000 + UInt32($0)), port: 5_000) }
  /// Ordinary addresses, and some that nothing may be sent to.
  private static let remotes: [SocketAddress] =
    (1...8).map { SocketAddress(ip: .v4(0x0B00_0000 + UInt32($0)), port: 6_000) } + [
      SocketAddress(ip: .loopbackV4, port: 6_000), SocketAddress(ip: .v4(0), port: 6_000),
      SocketAddress(ip: .v4(0xE000_0001), port: 6_000), SocketAddress(ip: .v4(0x0B00_0001), port: 0),
      SocketAddress(ip: .v6(high: 0xFE80 << 48, low: 7, scope: 3), port: 6_000),
      SocketAddress(ip: .v6(high: 0x2001_0DB8 << 32, low: 7, scope: 0), port: 6_000),
    ]
  private static let kinds: [ICECandidateKind] = [.host, .serverReflexive, .peerReflexive, .relayed]

  private var agent: ICEAgent
  private var now = Timestamp.zero + .seconds(1)
  private var batch = DatagramBatch(capacity: 8 * 1024)
  private var events: [ICEEvent] = []
  private let peers: [ICECredentials]
  private var random = SeededGenerator(seed: 7)
  private var requests: [Request] = []
  /// Routes with an authentic success response.
  private var answered: Set<Route> = []

  init(role: ICERole, hosts: Int) {
    var random = SeededGenerator(seed: 3)
    peers = (0..<3).map { _ in ICECredentials(using: &random) }
    agent = ICEAgent(
      role: role, localCredentials: ICECredentials(using: &random), tieBreaker: 1 << 63, seed: random.next())
    let candidates = Self.locals.prefix(hosts).enumerated().map { number, address in
      Self.candidate(address, .host, 1_000 - UInt32(number))
    }
    agent.addLocalCandidates(candidates, now: now)
  }

  // MARK: Steps

  mutating func run(_ kind: UInt8, _ reader: inout ByteReader) {
    switch kind % 14 {
    case 0: receive(takeBytes(&reader), on: takeRoute(&reader))
    case 1, 2: request(&reader)
    case 3, 4: respond(&reader)
    case 5: respondToAll()
    case 6:
      let choice = reader.readUInt8() ?? 0
      let priority = UInt32(reader.readUInt8() ?? 1) << 23
      let address = Self.remotes[Int(choice & 31) % Self.remotes.count]
      agent.addRemoteCandidate(
        Self.candidate(address, Self.kinds[Int(choice >> 6)], priority),
        usernameFragment: choice & 32 == 0 ? nil : peers[Int(choice >> 6) % 3].usernameFragment, now: now)
    case 7:
      let choice = reader.readUInt8() ?? 0
      let address =
        choice & 0x80 == 0 ? Self.locals[Int(choice & 3)] : Self.remotes[Int(choice & 31) % Self.remotes.count]
      agent.addLocalCandidates([Self.candidate(address, Self.kinds[Int(choice >> 4 & 3)], 500)], now: now)
    case 8:
      let choice = reader.readUInt8() ?? 0
      describe(Int(choice & 3) % 3, isLite: choice & 0xC0 == 0xC0)
    case 9:
      if (reader.readUInt8() ?? 0) < 64 { agent.restart(localCredentials: ICECredentials(using: &random), now: now) }
    case 10: agent.setRole((reader.readUInt8() ?? 0) & 1 == 0 ? .controlling : .controlled)
    case 11: pass(.milliseconds(Int64(reader.readUInt8() ?? 1)))
    case 12: pass(.milliseconds(Int64(reader.readUInt8() ?? 1) * 100))
    default: change(kind / 14, &reader)
    }
    check()
  }

  /// Changes of our own addresses, and traffic.
  private mutating func change(_ kind: UInt8, _ reader: inout ByteReader) {
    switch kind {
    case 0...5: agent.noteAuthenticatedTraffic(at: now)
    case 6...8: agent.noteAuthenticatedTraffic(at: now, on: takeRoute(&reader))
    case 9...11:
      var route = takeRoute(&reader)
      if kind == 11 { route.kind = .stream(1) }
      agent.refuse(route, now: now)
    default:
      // Any of the hosts, a relay, and connections over TCP.
      let choice = reader.readUInt8() ?? 0
      var candidates = Self.locals.indices.filter { choice >> UInt8($0) & 1 == 1 }.map {
        Self.candidate(Self.locals[$0], .host, 900 - UInt32($0))
      }
      if choice & 0x10 != 0 {
        var relay = Self.candidate(SocketAddress(ip: .v4(0x0C00_0001), port: 7_000), .relayed, 5)
        relay.carrier = .relay(1)
        candidates.append(relay)
      }
      if choice & 0x20 != 0 {
        var passive = Self.candidate(Self.locals[0], .host, 400)
        (passive.carrier, passive.tcpType) = (.stream(0), .passive)
        candidates.append(passive)
      }
      agent.setLocalCandidates(candidates, isComplete: choice & 0x80 == 0, now: now)
    }
  }

  mutating func describe(_ peer: Int, isLite: Bool) {
    agent.setRemote(credentials: peers[peer], isLite: isLite, now: now)
  }

  /// Lets the agent perform what is due until `time` has passed.
  private mutating func pass(_ time: TimeDelta) {
    let end = now + time
    var turns = 0
    var last = Timestamp.zero
    while let next = agent.nextDeadline, next <= end {
      now = max(now, next)
      turns = now == last ? turns + 1 : 0
      last = now
      precondition(turns < 300, "the agent asks to be woken at once for ever")
      agent.deadlineReached(now: now, into: &batch, events: &events)
      take(limit: .max)
    }
    now = end
  }

  /// The peer does not answer any more. Without a new description there is nothing left to do.
  mutating func fallSilent() {
    // Pairs of one foundation are given up one after the other, and each takes up to 100 s.
    pass(.seconds(5_000))
    precondition(agent.state == .new || agent.state == .failed, "still \(agent.state) after long silence")
    precondition(agent.selectedRoute == nil)
    precondition(agent.nextDeadline == nil, "wakes for \(String(describing: agent.nextDeadline)) though all is over")
  }

  // MARK: Messages

  /// An authentic request, or one that is wrong in something.
  private mutating func request(_ reader: inout ByteReader) {
    let flags = reader.readUInt8() ?? 0
    let route = takeRoute(&reader)
    let tieBreaker = UInt64(reader.readUInt8() ?? 0) << 56
    let own = agent.localCredentials
    let sender = flags & 0x40 == 0 ? agent.remoteCredentials ?? peers[0] : peers[1]
    var message = [UInt8](repeating: 0, count: 512)
    var span = message.mutableSpan
    var writer = STUNMessageWriter(
      .request, transactionID: STUNTransactionID(using: &random), into: span._mutatingExtracting(0..<512))
    writer.write(.username, Array("\(own.usernameFragment):\(sender.usernameFragment)".utf8).span)
    writer.write(flags & 1 == 0 ? .controlling(tieBreaker: tieBreaker) : .controlled(tieBreaker: tieBreaker))
    if flags & 0x30 != 0x30 { writer.write(.priority, UInt32(flags >> 2 & 3) << 28 | 1) }
    if flags & 2 != 0 { writer.write(.useCandidate) }
    let count = writer.finish(key: STUNIntegrityKey(password: flags & 0x80 == 0 ? own.password : "wrong"))
    receive(Array(message.prefix(count)), on: route)
  }

  /// The answer to a request that is remembered: right, an error, with a wrong key, or by another way.
  private mutating func respond(_ reader: inout ByteReader) {
    let flags = reader.readUInt8() ?? 0
    guard !requests.isEmpty else { return }
    let index = Int(flags >> 4) % requests.count
    let request = flags & 8 == 0 ? requests.remove(at: index) : requests[index]
    let route = flags & 7 == 1 ? takeRoute(&reader) : request.route
    let isAuthentic = flags & 7 != 2
    switch flags & 7 {
    case 3: respond(to: request, on: route, error: .roleConflict, isAuthentic: isAuthentic)
    case 4: respond(to: request, on: route, error: .badRequest, isAuthentic: isAuthentic)
    default: respond(to: request, on: route, error: nil, isAuthentic: isAuthentic)
    }
  }

  private mutating func respondToAll() {
    let all = requests
    requests = []
    for request in all { respond(to: request, on: request.route, error: nil, isAuthentic: true) }
  }

  private mutating func respond(to request: Request, on route: Route, error: STUNErrorCode?, isAuthentic: Bool) {
    guard let remote = agent.remoteCredentials else { return }
    var message = [UInt8](repeating: 0, count: 256)
    var span = message.mutableSpan
    var writer = STUNMessageWriter(
      error == nil ? .success : .error, transactionID: request.id, into: span._mutatingExtracting(0..<256))
    if let error { writer.write(error) } else { writer.writeXorMappedAddress(route.local) }
    let count = writer.finish(key: STUNIntegrityKey(password: isAuthentic ? remote.password : "wrong"))
    if error == nil, isAuthentic { answered.insert(Self.withoutScopes(route)) }
    receive(Array(message.prefix(count)), on: route)
  }

  private mutating func receive(_ datagram: [UInt8], on route: Route) {
    agent.receive(datagram.span, route: route, now: now, into: &batch, events: &events)
    // One answer and one check: the agent cannot be used to flood others.
    take(limit: 2)
  }

  private mutating func take(limit: Int) {
    precondition(batch.count <= limit, "\(batch.count) datagrams for one")
    var sent: [Request] = []
    for index in 0..<batch.count {
      guard let message = try? STUNMessage(parsing: batch.datagram(index)) else { fatalError("it cannot be read") }
      precondition(message.hasValidFingerprint)
      guard message.header.class == .request else { continue }
      sent.append(Request(id: message.header.transactionID, route: batch.entries[index].route))
    }
    requests += sent
    if requests.count > 16 { requests.removeFirst(requests.count - 16) }
    batch.removeAll()
  }

  // MARK: Invariants

  private func check() {
    precondition(agent.pairCount <= 100)
    if let route = agent.selectedRoute {
      precondition(answered.contains(Self.withoutScopes(route)), "media goes where nobody has answered")
    }
    switch agent.state {
    case .connected, .disconnected: break
    case .checking: precondition(agent.nextDeadline != nil, "it looks for a way and never wakes")
    case .new, .failed: break
    }
  }

  private static func withoutScopes(_ route: Route) -> Route {
    func bare(_ address: SocketAddress) -> SocketAddress {
      guard case .v6(let high, let low, _) = address.ip else { return address }
      return SocketAddress(ip: .v6(high: high, low: low, scope: 0), port: address.port)
    }
    return Route(local: bare(route.local), remote: bare(route.remote), kind: route.kind)
  }

  // MARK: Input

  private static func candidate(_ address: SocketAddress, _ kind: ICECandidateKind, _ priority: UInt32) -> ICECandidate
  {
    ICECandidate(address: address, priority: priority, kind: kind, foundation: "\(priority % 3)\(kind)")
  }

  private func takeRoute(_ reader: inout ByteReader) -> Route {
    let choice = reader.readUInt8() ?? 0
    let kind: [Route.Kind] = [.udp(port: 0), .relay(1), .stream(1)]
    return Route(
      local: Self.locals[Int(choice & 3)], remote: Self.remotes[Int(choice >> 2 & 7)],
      kind: choice >> 5 < 6 ? kind[0] : kind[Int(choice >> 5) - 5])
  }

  /// At most 255 bytes, as many as the first one says.
  private func takeBytes(_ reader: inout ByteReader) -> [UInt8] {
    let wanted = Int(reader.readUInt8() ?? 0)
    var bytes: [UInt8] = []
    while bytes.count < wanted, let byte = reader.readUInt8() { bytes.append(byte) }
    return bytes
  }
}
