import RTCICE
import RTCNet
import RTCPrimitives
import RTCWire

/// A UDP port of the loop, its addresses, and the STUN and TURN servers that are asked from it: the sockets of one
/// gatherer. The loop has one for all its peers; a connection in a client's role has one of its own. Lives on the
/// loop's thread.
final class ICESockets: Hashable, DeadlineHolder, @unchecked Sendable {
  // Why unchecked: made and used on the loop's thread alone; references travel only inside work posted to it.
  /// The kind of its UDP port's routes.
  let carrier: Route.Kind
  let port: UInt16
  let hasIPv4: Bool
  let hasIPv6: Bool
  unowned let table: PeerTable
  var gatherer: CandidateGatherer
  var heapIndex: Int?
  var servers: [ConfiguredServer] = []
  /// The gatherer's name for the next server.
  var nextServerID = 0
  var events: [CandidateGatherer.Event] = []
  /// The addresses of this machine.
  private(set) var addresses: [InterfaceAddress] = []
  private var privacy = InterfacePrivacy([], outward: [])
  /// The peers that offer these candidates.
  private var followers: Set<PeerSlot> = []
  private(set) var peerStreams: PeerStreams?
  private var probedAt = Timestamp.zero
  /// Something else than the gatherer has changed.
  var isUnsettled = false
  private var settledDeadline = Timestamp.distantFuture
  /// The last published candidates.
  private var published: (candidates: [ICECandidate], isComplete: Bool) = ([], true)

  /// - Parameter port: of the loop, by `carrier`.
  init(_ carrier: Route.Kind, port: UInt16, hasIPv4: Bool, hasIPv6: Bool, table: PeerTable) {
    (self.carrier, self.port, self.table) = (carrier, port, table)
    (self.hasIPv4, self.hasIPv6) = (hasIPv4, hasIPv6)
    gatherer = CandidateGatherer(seed: UInt64.random(in: .min ... .max))
  }

  // MARK: - Candidates

  /// All there are now, the best first; those over TCP last.
  var candidates: [ICECandidate] {
    let gathered = gatherer.candidates
    let streams = peerStreams?.candidates(beside: gathered.filter { $0.kind == .host }) ?? []
    return gathered + streams + advertised(beside: gathered)
  }

  /// The candidates for a remote peer: without those of interfaces that do not lead to it, unless interfaces were
  /// configured.
  /// - Parameter remote: the remote peer's address; nil: unknown.
  func candidates(towards remote: IPAddress?) -> [ICECandidate] {
    guard table.options.interfaces == nil else { return candidates }
    let hidden = privacy.hidden(from: remote, servers: table.options.servers)
    guard !hidden.isEmpty else { return candidates }
    return candidates.filter { candidate in
      switch candidate.kind {
      case .relayed: true
      case .host: !hidden.contains(candidate.address.ip)
      case .serverReflexive, .peerReflexive: candidate.relatedAddress.map { !hidden.contains($0.ip) } ?? true
      }
    }
  }

  /// Takes remote peers' connections over TCP from now on.
  func serve(_ streams: PeerStreams) { peerStreams = streams }

  /// Other addresses are advertised.
  func advertisedChanged(_ now: Timestamp) {
    isUnsettled = true
    settle(now)
  }

  /// Every server has answered, failed, or had its time.
  var isComplete: Bool { gatherer.isComplete && !servers.contains(where: \.isBeginning) }

  /// The slot's peer is notified of changes from now on.
  func follow(_ slot: PeerSlot) { followers.insert(slot) }

  func unfollow(_ slot: PeerSlot) { followers.remove(slot) }

  /// The machine has these addresses now.
  func setAddresses(_ all: [InterfaceAddress], now: Timestamp) {
    addresses = all
    privacy = InterfacePrivacy(offered(of: all))
    let bases = offered(of: all).map {
      CandidateGatherer.Base(
        address: SocketAddress(ip: $0.address, port: port), interfaceIndex: $0.index, carrier: carrier)
    }
    isUnsettled = true
    use(now) { gatherer, batch, events in gatherer.setBases(bases, now: now, into: &batch, events: &events) }
  }

  private func offered(of all: [InterfaceAddress]) -> [InterfaceAddress] {
    table.options.offered(of: all, hasIPv4: hasIPv4, hasIPv6: hasIPv6)
  }

  /// The addresses of the host candidates.
  var hostAddresses: [SocketAddress] { offered(of: addresses).map { SocketAddress(ip: $0.address, port: port) } }

  /// The results so far.
  var report: GatheringReport {
    let hidden = table.options.interfaces == nil ? privacy.hidden(from: nil, servers: table.options.servers) : []
    let used = Set(offered(of: addresses).filter { !hidden.contains($0.address) })
    return GatheringReport(
      addresses: addresses.map { .init(interface: $0.name, ip: $0.address, isOffered: used.contains($0)) },
      servers: servers.map(\.outcome),
      candidates: candidates(towards: nil).map { "\(CandidateDescription($0))" }, isComplete: isComplete)
  }

  // MARK: - Datagrams

  /// A datagram of this route is from one of the servers.
  func expects(_ route: Route) -> Bool { gatherer.expects(route) }

  /// Handles a datagram of a server; call `settle` afterwards.
  /// - Returns: the datagram of a remote peer that a relay forwarded.
  func receive(
    _ bytes: Span<UInt8>, _ route: Route, now: Timestamp, into batch: inout DatagramBatch
  ) -> (range: Range<Int>, route: Route)? {
    gatherer.receive(bytes, route: route, now: now, into: &batch, events: &events)
  }

  /// Wraps what goes by relays of these sockets; `settle` is due afterwards.
  func encapsulate(_ batch: inout DatagramBatch, now: Timestamp) { gatherer.encapsulate(&batch, from: 0, now: now) }

  /// Some server relays for us, or may soon.
  var relays: Bool { servers.contains { $0.asked.values.contains { $0.relay != nil } } }

  // MARK: - Steps

  /// Checks whether the servers still answer, because a peer receives nothing. At most once a second.
  func probe(_ now: Timestamp) {
    guard now - probedAt >= .seconds(1) else { return }
    probedAt = now
    use(now) { gatherer, batch, _ in gatherer.probe(now: now, into: &batch) }
  }

  /// Runs one step of the gatherer and performs its actions.
  func use(
    _ now: Timestamp,
    _ body: (inout CandidateGatherer, inout DatagramBatch, inout [CandidateGatherer.Event]) -> Void
  ) {
    table.write { batch in body(&gatherer, &batch, &events) }
    settle(now)
  }

  func deadlineReached(_ now: Timestamp) {
    if gatherer.nextDeadline <= now {
      use(now) { gatherer, batch, events in gatherer.deadlineReached(now: now, into: &batch, events: &events) }
    }
    for server in servers where server.nextDeadline <= now { timeOut(server, now) }
    // The heap has released these sockets.
    isUnsettled = true
    settle(now)
  }

  /// Publishes the results of a step of the gatherer, and sets the next deadline.
  func settle(_ now: Timestamp) {
    let isQuiet = events.isEmpty && !isUnsettled
    isUnsettled = false
    while !events.isEmpty {
      let due = events
      events = []
      for event in due { handle(event, now) }
    }
    // A relayed packet changes neither; this runs for every packet.
    if isQuiet, gatherer.nextDeadline == settledDeadline { return }
    settledDeadline = gatherer.nextDeadline
    table.setDeadline(servers.reduce(gatherer.nextDeadline) { min($0, $1.nextDeadline) }, of: self)
    if !isQuiet { publish(now) }
  }

  private func handle(_ event: CandidateGatherer.Event, _ now: Timestamp) {
    switch event {
    case .candidatesChanged: break  // `settle` looks
    case .serverAnswered(let id, let time, let mapped, let relayed):
      server(id)?.noteAnswer(after: time, mapped: mapped, relayed: relayed, of: id)
    case .serverFailed(let id, let failure):
      if let server = server(id) { failed(server, id, failure, now) }
    }
  }

  private func server(_ id: Int) -> ConfiguredServer? { servers.first { $0.asked[id] != nil } }

  private func publish(_ now: Timestamp) {
    let current = (candidates: candidates, isComplete: isComplete)
    guard current != published else { return }
    published = current
    table.candidatesChanged(of: self)
    for slot in followers { slot.candidatesChanged(now) }
  }

  /// Gives all allocations back. The port is closed by the loop once that has been sent.
  func close(_ now: Timestamp) {
    table.write { gatherer.close(into: &$0, now: now) }
    for server in servers { letGo(of: server) }
    servers = []
    followers = []
    table.setDeadline(.distantFuture, of: self)
  }

  static func == (a: ICESockets, b: ICESockets) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
