import RTCEngine
import RTCICE
import RTCNet
import RTCPrimitives
import RTCWire

/// All peers of a loop: finds the peer of a datagram, keeps their deadlines, and sends their datagrams. Lives on the
/// loop's thread.
final class PeerTable: LoopHandler {
  let loop: EventLoop
  let options: PeerLoop.Options
  private var slots: Set<PeerSlot> = []
  private var byUfrag: [String: PeerSlot] = [:]
  /// By the first 32 bits of the transactions of its checks.
  private var byTransaction: [UInt32: PeerSlot] = [:]
  private var lastTransactionTag = UInt32.random(in: .min ... .max)
  private var routes = RouteTable<PeerSlot>()
  /// Limits the checks to remote peers that have not answered any.
  private var checkLimiter = UnsolicitedCheckLimiter()
  /// The loop's only outbox: every step of every peer appends to it; `endOfBatch` sends it.
  private var outbox = Outbox()
  private var deadlines = DeadlineHeap<PeerSlot>()
  /// Memory for the slots whose deadline has come, and for the events of a step, while they are gone through.
  private var due: [PeerSlot] = []
  private var spareEvents: [Event] = []
  private let refusals: RefusalCounts
  /// The addresses of this loop, and their carriers: a datagram to one of them is for another peer of the loop.
  private var own: [SocketAddress: Route.Kind] = [:]
  /// From peers of the loop to peers of the loop.
  private var inward: [Passed] = []
  /// The maximum number of datagrams between peers of the loop, about as many as a socket's buffer holds.
  private static let maximumInward = 4_096

  /// A datagram that does not leave the process.
  private struct Passed {
    var target: PeerSlot
    var bytes: [UInt8]
    var route: Route
  }

  // MARK: - What sessions cost

  private var shares: LoadShares<PeerSlot>
  /// Sessions with datagrams that wait, in the order of their turns, and how many datagrams wait.
  private var deferred: [PeerSlot] = []
  private var deferredDatagrams = 0
  /// When datagrams that wait are looked at again.
  private var deferredDeadline = Timestamp.distantFuture
  /// The session whose datagram is being handled, and the time that steps of others took meanwhile.
  private var metered: PeerSlot?
  private var timeOfOthers = TimeDelta.zero
  /// Datagrams that may wait, of one session and of all.
  private static let deferredOfSession = 512
  private static let deferredInAll = 4_096

  // MARK: - What candidates are gathered from

  let resolver = NameResolver()
  let tls: ClientTLS
  var streams = StreamTable()
  var relayNumbers = NumberPool()
  let multicastNames: MulticastNames
  private(set) lazy var advertised = AdvertisedPlaces(options.advertised, of: self, onNotice: options.onNotice)
  private let network: NetworkFollower
  private let environment: [String: String]
  /// By the UDP port, the loop's first among them.
  private var sockets: [Route.Kind: ICESockets] = [:]
  private var peerStreams: PeerStreams?
  /// The addresses of admitted interfaces; nil: all are.
  private var admitted: Set<IPAddress>?
  private var socketDeadlines = DeadlineHeap<ICESockets>()
  private var dueSockets: [ICESockets] = []
  private var trackDeadlines = DeadlineHeap<OutgoingVideoTrack>()
  private var dueTracks: [OutgoingVideoTrack] = []
  /// Whether the loop has ended, so that deadlines do not matter.
  private var isOver = false
  /// Ports and streams to close after the outbox was sent.
  private var closing: [Route.Kind] = []
  /// Datagrams that the kernel refused to send.
  private var unsendable: [SendRefusal] = []
  /// Peers of the shared port whose connections name servers, the latest last.
  private var naming: [PeerSlot] = []

  init(loop: EventLoop, options: PeerLoop.Options, refusals: RefusalCounts, now: Timestamp) {
    self.loop = loop
    self.refusals = refusals
    self.options = options
    shares = LoadShares(now: now, processorTime: ThreadClock.now(), idleTime: loop.idleTime)
    tls = ClientTLS(trusting: options.trustedCertificates)
    environment = options.environment ?? Environment.values(HTTPProxy.variables)
    let network = NetworkFollower(loop)
    self.network = network
    multicastNames = MulticastNames(loop) {
      let admitted = network.addresses.filter { options.interfaces?.admits($0.name) ?? true }
      return Array(Set(admitted.filter { $0.isUp && (!$0.isLoopback || options.includesLoopback) }.map(\.index)))
    }
    iceServers = options.iceServers
    let first = ICESockets(
      .udp(port: 0), port: loop.port, hasIPv4: loop.hasIPv4, hasIPv6: loop.hasIPv6, table: self)
    admit()
    if options.servesTCP {
      peerStreams = try? PeerStreams(self, port: loop.port, hasIPv4: loop.hasIPv4, hasIPv6: loop.hasIPv6)
      if let peerStreams { first.serve(peerStreams) }
    }
    begin(first, iceServers, now)
  }

  private func admit() {
    guard let filter = options.interfaces else { return }
    admitted = Set(network.addresses.filter { filter.admits($0.name) }.map(\.address.withoutScope))
  }

  /// Whether datagrams to this address may reach a peer: its interface is not refused.
  func admits(_ ip: IPAddress) -> Bool { admitted?.contains(ip.withoutScope) ?? true }

  /// Some peer sends by this route.
  func knows(_ route: Route) -> Bool { routes.knows(RemoteEnd(route)) }

  /// For all peers, those with a port of their own that are yet to come among them.
  var iceServers: [ICEServer] { didSet { setServers() } }

  /// The servers that a peer's connection names beside those. They are asked for all peers of its port: however many
  /// connections name one server, one allocation is made. The credentials that were named last are used.
  func setICEServers(_ servers: [ICEServer], of slot: PeerSlot) {
    slot.iceServers = servers
    if slot.sockets === sharedSockets {
      naming.removeAll { $0 === slot }
      if !servers.isEmpty { naming.append(slot) }
      setServers()
    } else {
      slot.sockets.setServers(servers + iceServers, now: MonotonicClock.now())
    }
  }

  private func setServers() {
    let named = naming.reversed().flatMap(\.iceServers)
    sharedSockets.setServers(named + iceServers, now: MonotonicClock.now())
  }

  /// The sockets of the loop's first port.
  var sharedSockets: ICESockets { sockets[.udp(port: 0)]! }  // made with the table

  private func begin(_ new: ICESockets, _ servers: [ICEServer], _ now: Timestamp) {
    sockets[new.carrier] = new
    new.setAddresses(network.addresses, now: now)
    new.setServers(servers, now: now)
  }

  /// Makes a UDP port of its own for one connection.
  func makeSockets(now: Timestamp) throws(SystemError) -> ICESockets {
    var udp = UDPPort.Options()
    udp.portRange = options.portRange
    // One connection's, not a broadcast's.
    (udp.receiveBufferSize, udp.sendBufferSize) = (1 << 20, 1 << 20)
    let port = try UDPPort(udp)
    let (number, hasIPv4, hasIPv6) = (port.number, port.hasIPv4, port.hasIPv6)
    let new = ICESockets(try loop.add(port), port: number, hasIPv4: hasIPv4, hasIPv6: hasIPv6, table: self)
    begin(new, iceServers, now)
    return new
  }

  /// Gives `body` the outbox to write into.
  func write(_ body: (inout DatagramBatch) -> Void) { body(&outbox.datagrams) }

  func setDeadline(_ deadline: Timestamp, of sockets: ICESockets) {
    if !isOver { socketDeadlines.set(deadline, of: sockets) }
  }

  func setDeadline(_ deadline: Timestamp, of track: OutgoingVideoTrack) {
    if !isOver { trackDeadlines.set(deadline, of: track) }
  }

  /// The proxy for connections to `host`, as the environment has it.
  func proxy(for host: String) -> HTTPProxy? { HTTPProxy(for: host, environment: environment) }

  /// Other candidates are there: this loop is reached elsewhere.
  func candidatesChanged(of _: ICESockets) {
    own.removeAll(keepingCapacity: true)
    for sockets in sockets.values {
      // Server-reflexive addresses belong to the NAT.
      for candidate in sockets.candidates where candidate.tcpType == nil {
        if candidate.kind == .host || candidate.kind == .relayed { own[candidate.address] = candidate.carrier }
      }
    }
  }

  /// Other addresses are advertised.
  func advertisedChanged(_ now: Timestamp) { for sockets in sockets.values { sockets.advertisedChanged(now) } }

  private func closeSockets(of slot: PeerSlot, now: Timestamp) {
    let used = slot.sockets
    used.unfollow(slot)
    if used === sharedSockets {
      if naming.contains(where: { $0 === slot }) { setICEServers([], of: slot) }
    } else {
      used.close(now)
      sockets[used.carrier] = nil
      closing.append(used.carrier)
    }
  }

  private func look() {
    guard let change = network.look() else { return }
    admit()
    let now = MonotonicClock.now()
    for sockets in sockets.values { sockets.networkChanged(change.addresses, hasSlept: change.hasSlept, now: now) }
  }

  // MARK: - Peers

  var isFull: Bool { slots.count >= options.maximumPeers }
  var count: Int { slots.count }

  func insert(_ slot: PeerSlot) {
    slots.insert(slot)
    repeat { lastTransactionTag &+= 1 } while byTransaction[lastTransactionTag] != nil
    slot.peer.transactionTag = lastTransactionTag
    byTransaction[lastTransactionTag] = slot
    slot.sockets.follow(slot)
    name(slot, slot.ufrag)
  }

  private func remove(_ slot: PeerSlot) {
    guard slots.remove(slot) != nil else { return }
    shares.forget(slot)
    deferredDatagrams -= slot.waiting.count
    slot.waiting = []
    closeSockets(of: slot, now: MonotonicClock.now())
    deadlines.set(.distantFuture, of: slot)
    for ufrag in slot.ufrags { byUfrag[ufrag] = nil }
    byTransaction[slot.peer.transactionTag] = nil
    for remote in routes.remove(slot) {
      if case .stream = remote.kind { closing.append(remote.kind) }
    }
  }

  /// STUN requests with this user name are for `slot` too: the remote peer may use the one before for a while.
  private func name(_ slot: PeerSlot, _ ufrag: String) {
    guard !slot.ufrags.contains(ufrag), byUfrag[ufrag] == nil else { return }
    byUfrag[ufrag] = slot
    slot.ufrags.append(ufrag)
    if slot.ufrags.count > 3 { byUfrag[slot.ufrags.removeFirst()] = nil }
  }

  /// Runs one step of `slot`'s peer, and delivers its events.
  func step(_ slot: PeerSlot, _ input: consuming Input, now: Timestamp) {
    let pause = pauseMeter(for: slot)
    defer { resumeMeter(pause) }
    let first = outbox.datagrams.count
    slot.peer.handle(input, now: now, into: &outbox)
    finishStep(slot, from: first)
  }

  /// Runs a step that has a result.
  func step<Result, Failure: Error>(
    _ slot: PeerSlot, _ body: (inout Peer, inout Outbox) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let pause = pauseMeter(for: slot)
    let first = outbox.datagrams.count
    defer {
      finishStep(slot, from: first)
      resumeMeter(pause)
    }
    return try body(&slot.peer, &outbox)
  }

  private func finishStep(_ slot: PeerSlot, from first: Int) {
    deadlines.set(outbox.nextDeadline, of: slot)
    takeClaims(of: slot)
    if slots.contains(slot) { noteDatagrams(of: slot, from: first) }
    if slot.reachesOwn { passOn(from: slot, first) }
    guard !outbox.events.isEmpty else { return }
    // An event may lead to another step: events are taken out before they are delivered.
    var events = spareEvents
    spareEvents = []
    swap(&events, &outbox.events)
    for event in events {
      switch event {
      case .stateChanged(.ended): remove(slot)
      case .usernameFragmentAdded(let ufrag): if slots.contains(slot) { name(slot, ufrag) }
      case .connectivityChanged(.silent), .connectivityChanged(.lost): slot.sockets.probe(MonotonicClock.now())
      default: break
      }
      slot.deliver(event)
    }
    events.removeAll(keepingCapacity: true)
    spareEvents = events
  }

  /// ICE has found the slot's remote peer at routes.
  private func takeClaims(of slot: PeerSlot) {
    guard !outbox.claims.isEmpty else { return }
    for claim in outbox.claims where slots.contains(slot) && own[claim.route.remote] == nil {
      let ip = claim.route.remote.ip
      routes.claim(RemoteEnd(claim.route), for: slot, isProved: claim.isProved)
      if claim.isProved {
        checkLimiter.answered(ip)
        if slot.answeredFrom.count < PeerLimits.provedAddresses { slot.answeredFrom.insert(ip) }
      } else {
        checkLimiter.received(from: ip, now: MonotonicClock.now())
      }
    }
    outbox.claims.removeAll(keepingCapacity: true)
  }

  /// Remembers the destinations of the slot's datagrams, and removes unsolicited checks over the limit.
  private func noteDatagrams(of slot: PeerSlot, from first: Int) {
    var hasStrangers = false
    for index in first..<outbox.datagrams.count {
      let remote = RemoteEnd(outbox.datagrams.entries[index].route)
      guard remote != slot.lastRemote else { continue }
      if own[remote.address] != nil {
        slot.reachesOwn = true
        continue
      }
      slot.lastRemote = remote
      routes.note(writer: slot, to: remote)
    }
    for index in first..<outbox.datagrams.count where !hasStrangers {
      hasStrangers = isUnsolicited(outbox.datagrams.entries[index], slot)
    }
    guard hasStrangers else { return }
    let now = MonotonicClock.now()
    outbox.datagrams.remove(from: first) { _, entry in
      guard isUnsolicited(entry, slot), !checkLimiter.maySend(to: entry.route.remote.ip, now: now) else { return false }
      refusals.count(.check)
      return true
    }
  }

  /// Whether the datagram is a check to an address from which the slot's peer has not answered any.
  private func isUnsolicited(_ datagram: DatagramBatch.Entry, _ slot: PeerSlot) -> Bool {
    datagram.content == .check && !slot.answeredFrom.contains(datagram.route.remote.ip)
      && own[datagram.route.remote] == nil
  }

  /// Ends every peer: its followers are notified, and its tracks release it.
  func closeAll(now: Timestamp) {
    for slot in slots { _ = try? slot.perform(.close, now: now) }
    for sockets in sockets.values { sockets.close(now) }
    network.close()
    multicastNames.close()
    peerStreams?.close()
  }

  // MARK: - Within the loop

  /// Two peers of one loop have the same address, so only STUN requests name the receiver. Datagrams between such peers
  /// do not leave the process, where the sender is known: a request names its receiver, and everything else goes to the
  /// receiver of the sender's last request.
  private func passOn(from slot: PeerSlot, _ first: Int) {
    outbox.datagrams.remove(from: first) { bytes, entry in
      let route = entry.route
      guard let kind = own[route.remote] else { return false }
      if entry.content == .check, let ufrag = ICEDemultiplexer.localUsernameFragment(of: bytes) {
        slot.neighbour = byUfrag[ufrag]
      }
      guard let target = slot.neighbour, slots.contains(target) else { return false }
      guard inward.count < Self.maximumInward else { return true }
      inward.append(
        Passed(
          target: target, bytes: [UInt8](copying: bytes),
          route: Route(local: route.remote, remote: route.local, kind: kind)))
      return true
    }
  }

  /// Answers wait for the next turn, so that sockets and posted work are served.
  private func deliverInward(now: Timestamp) {
    let due = inward
    inward = []
    for passed in due where slots.contains(passed.target) {
      var bytes = passed.bytes
      let kind = PacketKind(bytes.span)
      step(passed.target, .datagram(bytes.mutableSpan, kind, passed.route), now: now)
    }
  }

  // MARK: - LoopHandler

  func datagram(_ bytes: inout MutableSpan<UInt8>, route: Route, now: Timestamp) {
    guard admits(route.local.ip) else { return refusals.count(.datagram) }
    guard let sockets = sockets(expecting: route) else { return dispatch(&bytes, route, now) }
    let relayed = sockets.receive(bytes.span, route, now: now, into: &outbox.datagrams)
    sockets.settle(now)
    guard let relayed else { return }
    var inner = bytes._mutatingExtracting(relayed.range)
    dispatch(&inner, relayed.route, now)
  }

  /// The sockets whose server uses this route; nil: none.
  private func sockets(expecting route: Route) -> ICESockets? {
    let owner: ICESockets?
    switch route.kind {
    case .udp: owner = sockets[route.kind]
    case .stream(let number): owner = streams.owner(of: number)
    case .relay: owner = nil
    }
    return owner?.expects(route) == true ? owner : nil
  }

  /// Hands a remote peer's datagram to the peer it is for.
  /// - Parameter mayWait: whether it is put off when the peer's session costs more than its share.
  private func dispatch(
    _ bytes: inout MutableSpan<UInt8>, _ route: Route, _ now: Timestamp, mayWait: Bool = true
  ) {
    let kind = PacketKind(bytes.span)
    if kind == .stun, let message = try? STUNMessage(parsing: bytes.span) {
      // A request names its peer, and an answer repeats the number of our request.
      let slot =
        if message.header.class == .request {
          ICEDemultiplexer.localUsernameFragment(of: message).flatMap { byUfrag[$0] }
        } else {
          byTransaction[message.header.transactionID.high] ?? routes.owner(of: RemoteEnd(route))
        }
      guard let slot else { return refusals.count(.datagram) }
      if mayWait, isPutOff(bytes.span, route, slot) { return }
      let begin = startMeter(slot)
      step(slot, .stun(message, route), now: now)
      stopMeter(slot, begin)
    } else if let slot = routes.owner(of: RemoteEnd(route)) {
      if mayWait, isPutOff(bytes.span, route, slot) { return }
      let begin = startMeter(slot)
      step(slot, .datagram(bytes._mutatingExtracting(0..<bytes.count), kind, route), now: now)
      stopMeter(slot, begin)
    } else {
      refusals.count(.datagram)
    }
  }

  // MARK: - What sessions cost

  /// The clock for a cost: the exact one is a system call, and only for sessions that look expensive.
  private static func meter(_ isExact: Bool) -> TimeDelta {
    isExact ? ThreadClock.now() : TimeDelta(nanoseconds: MonotonicClock.now().nanoseconds)
  }

  /// A datagram of the session is handled from now on.
  private func startMeter(_ slot: PeerSlot) -> TimeDelta {
    (metered, timeOfOthers) = (slot, .zero)
    return Self.meter(slot.load.standing != .usual)
  }

  /// Charges the session with the time.
  private func stopMeter(_ slot: PeerSlot, _ begin: TimeDelta) {
    metered = nil
    guard slots.contains(slot) else { return }
    shares.charge(Self.meter(slot.load.standing != .usual) - begin - timeOfOthers, to: slot)
  }

  /// A step of another session while a datagram is handled, such as one of a viewer that is sent a publisher's frame.
  private struct MeterPause {
    var slot: PeerSlot
    var begin: TimeDelta
    var isExact: Bool
  }

  private func pauseMeter(for slot: PeerSlot) -> MeterPause? {
    guard let paused = metered, paused !== slot else { return nil }
    metered = nil
    let isExact = paused.load.standing != .usual
    return MeterPause(slot: paused, begin: Self.meter(isExact), isExact: isExact)
  }

  private func resumeMeter(_ pause: MeterPause?) {
    guard let pause else { return }
    timeOfOthers = timeOfOthers + (Self.meter(pause.isExact) - pause.begin)
    metered = pause.slot
  }

  /// Keeps a datagram of a session that costs more than its share until everything else is done, or drops it.
  /// - Returns: false where the session costs no more than its share.
  private func isPutOff(_ bytes: Span<UInt8>, _ route: Route, _ slot: PeerSlot) -> Bool {
    guard slot.load.standing == .deferred || !slot.waiting.isEmpty else { return false }
    guard slot.waiting.count < Self.deferredOfSession, deferredDatagrams < Self.deferredInAll else {
      shares.countDropped(of: slot)
      refusals.count(.costlyDatagram)
      return true
    }
    if slot.waiting.isEmpty { deferred.append(slot) }
    slot.waiting.append(([UInt8](copying: bytes), route))
    deferredDatagrams += 1
    if deferredDeadline == .distantFuture { deferredDeadline = .zero }
    return true
  }

  /// Handles datagrams that wait, of one session after the other, for a millisecond at most.
  private func handleDeferred(now: Timestamp) {
    let start = MonotonicClock.now()
    var left = deferred.count
    while left > 0 {
      let slot = deferred.removeFirst()
      left -= 1
      guard slots.contains(slot), !slot.waiting.isEmpty else { continue }
      guard shares.mayHandle(of: slot, now: start) else {
        deferred.append(slot)
        continue
      }
      var (bytes, route) = slot.waiting.removeFirst()
      deferredDatagrams -= 1
      var span = bytes.mutableSpan
      dispatch(&span, route, now, mayWait: false)
      if slots.contains(slot), !slot.waiting.isEmpty { deferred.append(slot) }
      guard MonotonicClock.now() - start < LoadShares<PeerSlot>.slice else { return deferredDeadline = .zero }
      left = deferred.count
    }
    deferredDeadline = deferred.isEmpty ? .distantFuture : start + LoadShares<PeerSlot>.slice
  }

  private func endWindow(now: Timestamp) {
    let ending = shares.endWindow(
      now: now, processorTime: ThreadClock.now(), idleTime: loop.idleTime, sessions: slots.count)
    for slot in ending where slots.contains(slot) {
      refusals.count(.costlySession)
      _ = try? slot.perform(.sendAway, now: now)
    }
  }

  /// Datagrams between two peers of the loop are delivered at once.
  var nextDeadline: Timestamp {
    guard inward.isEmpty, outbox.datagrams.isEmpty else { return .zero }
    let names = min(
      min(multicastNames.nextDeadline, advertised.nextDeadline), peerStreams?.nextDeadline ?? .distantFuture)
    let own = min(deadlines.earliest, min(socketDeadlines.earliest, trackDeadlines.earliest))
    return min(min(own, deferredDeadline), min(network.nextDeadline, names))
  }

  func deadlineReached(now: Timestamp) {
    if !inward.isEmpty { deliverInward(now: now) }
    if network.nextDeadline <= now { look() }
    if multicastNames.nextDeadline <= now { multicastNames.deadlineReached(now) }
    if advertised.nextDeadline <= now { advertised.deadlineReached(now) }
    if let peerStreams, peerStreams.nextDeadline <= now { peerStreams.deadlineReached(now) }
    var due = due
    self.due = []
    deadlines.removeDue(now, into: &due)
    // A step sets the next deadline; one that has come again waits for the next turn of the loop.
    for slot in due where slots.contains(slot) { step(slot, .deadline, now: now) }
    due.removeAll(keepingCapacity: true)
    self.due = due
    socketDeadlines.removeDue(now, into: &dueSockets)
    while let sockets = dueSockets.popLast() { sockets.deadlineReached(now) }
    trackDeadlines.removeDue(now, into: &dueTracks)
    while let track = dueTracks.popLast() { track.deadlineReached(now) }
    // Last of all.
    if deferredDeadline <= now { handleDeferred(now: now) }
  }

  /// Tracks and sockets refer to the table, so it is emptied.
  func loopEnded() {
    isOver = true
    socketDeadlines.removeAll()
    trackDeadlines.removeAll()
  }

  func endOfBatch(now: Timestamp) {
    network.noteTurn(now)
    if shares.windowEnd <= now { endWindow(now: now) }
    guard !outbox.datagrams.isEmpty else { return closePorts() }
    if !relayNumbers.isEmpty {
      for sockets in sockets.values where sockets.relays {
        sockets.encapsulate(&outbox.datagrams, now: now)
        sockets.settle(now)
      }
    }
    loop.send(outbox.datagrams)
    if !streams.isEmpty { streams.send(outbox.datagrams) }
    outbox.datagrams.removeAll()
    closePorts()
    tellRefusals(now)
  }

  /// Notifies peers at once that the kernel refuses to send by one of their routes.
  private func tellRefusals(_ now: Timestamp) {
    loop.takeRefusals(into: &unsendable)
    guard !unsendable.isEmpty else { return }
    let told = unsendable
    unsendable.removeAll(keepingCapacity: true)
    for refusal in told { refused(refusal.route, now) }
  }

  /// The kernel refuses to send by this route.
  func refused(_ route: Route, _ now: Timestamp) {
    guard let slot = routes.writer(to: RemoteEnd(route)) else { return }
    _ = try? slot.perform(.routeRefused(route), now: now)
  }

  private func closePorts() {
    for carrier in closing {
      loop.remove(carrier)
      peerStreams?.close(carrier)
    }
    closing.removeAll()
  }
}
