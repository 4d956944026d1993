package import RTCICE
package import RTCPrimitives
package import RTCWire

/// A host of a `NATWorld`: one UDP socket and a gatherer; its owner handles the datagrams of peers.
package final class GatheringHost {
  /// The host's number in the world.
  package let index: Int
  /// The address of its socket.
  package let address: SocketAddress
  /// The gatherer, whose steps go through this class.
  package private(set) var gatherer: CandidateGatherer
  /// All events of the gatherer, with their times.
  package private(set) var events: [(time: Timestamp, event: CandidateGatherer.Event)] = []
  /// Takes the datagrams that are not the gatherer's, unwrapped; kept in `received` when there is no taker.
  package var taker: (([UInt8], Route) -> Void)?
  /// Called when the gatherer's candidates have changed.
  package var candidatesChanged: (() -> Void)?
  /// Received datagrams that do not belong to the gatherer.
  package private(set) var received: [(bytes: [UInt8], route: Route)] = []
  private unowned let world: NATWorld
  private var batch = DatagramBatch(capacity: 16 * 1024)
  private var newEvents: [CandidateGatherer.Event] = []

  init(index: Int, address: SocketAddress, seed: UInt64, world: NATWorld) {
    self.index = index
    self.address = address
    self.world = world
    gatherer = CandidateGatherer(seed: seed)
  }

  // MARK: - Gathering

  /// The host's addresses.
  package func setBases(_ bases: [CandidateGatherer.Base]) {
    gatherer.setBases(bases, now: world.now, into: &batch, events: &newEvents)
    finishStep()
  }

  /// Forgets everything, as after a crash: another gatherer on the same address and port.
  package func startAgain() {
    gatherer = CandidateGatherer(seed: UInt64(bitPattern: world.now.nanoseconds))
    setBases([CandidateGatherer.Base(address: address)])
  }

  /// Asks a server of the world for the address of the host's NAT. The server's number is its id.
  package func addSTUN(_ server: Int = 0) {
    add(.stun(id: server, route: route(to: server)))
  }

  /// Asks a server of the world for an allocation; its id is the server's number + 100, by TCP + 200, by TLS + 300. The relay's
  /// number is the same.
  package func addTURN(
    _ server: Int = 0, transport: CandidateGatherer.Server.Transport = .udp, username: String = "user",
    credential: String = "secret"
  ) {
    let id = server + 100 * (1 + transport.rawValue)
    var route = route(to: server)
    if transport != .udp { route.kind = .stream(UInt16(id)) }
    add(
      .turn(
        id: id, route: route, transport: transport, relay: UInt16(id), username: username, credential: credential))
  }

  /// Adds any server.
  package func add(_ server: CandidateGatherer.Server) {
    gatherer.add(server, now: world.now, into: &batch, events: &newEvents)
    finishStep()
  }

  /// Withdraws a server.
  package func remove(server id: Int) {
    gatherer.remove(server: id, now: world.now, into: &batch, events: &newEvents)
    finishStep()
  }

  /// Asks all servers whether they are still there.
  package func probe() {
    gatherer.probe(now: world.now, into: &batch)
    finishStep()
  }

  /// Gives all allocations back.
  package func close() {
    gatherer.close(into: &batch, now: world.now)
    finishStep()
  }

  func deadlineReached() {
    gatherer.deadlineReached(now: world.now, into: &batch, events: &newEvents)
    finishStep()
  }

  /// Whether datagrams by this route belong to the gatherer.
  package func expects(_ route: Route) -> Bool { gatherer.expects(route) }

  /// The gatherer's candidates of one kind.
  package func candidates(_ kind: ICECandidateKind) -> [ICECandidate] {
    gatherer.candidates.filter { $0.kind == kind }
  }

  /// The failures of servers, in order.
  package var failures: [ICEServerFailure] {
    events.compactMap { if case .serverFailed(_, let failure) = $0.event { failure } else { nil } }
  }

  // MARK: - Datagrams

  /// Wraps what goes by relays.
  package func encapsulate(_ datagrams: inout DatagramBatch) {
    gatherer.encapsulate(&datagrams, from: 0, now: world.now)
  }

  /// Sends datagrams of the owner's along their routes, by relays too.
  package func send(_ datagrams: inout DatagramBatch) {
    encapsulate(&datagrams)
    world.send(datagrams, from: self)
    datagrams.removeAll()
  }

  /// Sends one datagram along a route.
  package func send(_ bytes: [UInt8], by route: Route) {
    var datagrams = DatagramBatch(capacity: 2_048)
    datagrams.append(bytes.span, to: route)
    send(&datagrams)
  }

  /// Takes what arrived at the socket or on a stream.
  package func receive(_ bytes: [UInt8], route: Route) {
    guard gatherer.expects(route) else { return hand(bytes, route) }
    let inner = gatherer.receive(bytes.span, route: route, now: world.now, into: &batch, events: &newEvents)
    finishStep()
    if let inner { hand(Array(bytes[inner.range]), inner.route) }
  }

  private func hand(_ bytes: [UInt8], _ route: Route) {
    if let taker { taker(bytes, route) } else { received.append((bytes, route)) }
  }

  private func finishStep() {
    let news = newEvents
    newEvents = []
    events += news.map { (world.now, $0) }
    world.send(batch, from: self)
    batch.removeAll()
    if news.contains(.candidatesChanged) { candidatesChanged?() }
  }

  private func route(to server: Int) -> Route {
    Route(local: SocketAddress(ip: .v4(0), port: address.port), remote: world.servers[server].address)
  }
}
