import RTCEngine
import RTCICE
import RTCNet
import RTCPrimitives
import RTCWire

/// All peers of a loop: finds the peer a datagram is for, keeps their deadlines, and sends what they leave.
/// Lives on the loop's thread.
final class PeerTable: LoopHandler {
  private let loop: EventLoop
  private let maximumPeers: Int
  private var slots: Set<PeerSlot> = []
  private var byUfrag: [String: PeerSlot] = [:]
  private var byRemote: [SocketAddress: PeerSlot] = [:]
  /// The one outbox of the loop: every step of every peer appends to it; `endOfBatch` sends it.
  private var outbox = Outbox()
  private var deadlines = DeadlineHeap<PeerSlot>()
  /// Memory for the slots whose deadline has come, and for the events of a step, while they are gone through.
  private var due: [PeerSlot] = []
  private var spareEvents: [Event] = []
  /// Datagrams that no peer claimed.
  private(set) var unclaimed = 0
  /// Where this loop is reached: what a peer sends there is for another peer of the loop.
  private var own: Set<SocketAddress> = []
  /// From peers of the loop to peers of the loop.
  private var inward: [Passed] = []
  /// As many datagrams may be under way within the loop as a socket's buffer would hold of them.
  private static let maximumInward = 4_096

  /// A datagram that does not leave the process.
  private struct Passed {
    var target: PeerSlot
    var bytes: [UInt8]
    var route: Route
  }

  init(loop: EventLoop, maximumPeers: Int) {
    self.loop = loop
    self.maximumPeers = maximumPeers
  }

  // MARK: - Peers

  var isFull: Bool { slots.count >= maximumPeers }
  var count: Int { slots.count }

  /// - Parameter addresses: what its description says of where it is reached.
  func insert(_ slot: PeerSlot, reachedAt addresses: [SocketAddress]) {
    slots.insert(slot)
    own.formUnion(addresses)
    name(slot, slot.ufrag)
  }

  private func remove(_ slot: PeerSlot) {
    guard slots.remove(slot) != nil else { return }
    deadlines.set(.distantFuture, of: slot)
    for ufrag in slot.ufrags { byUfrag[ufrag] = nil }
    for remote in slot.remotes where byRemote[remote] === slot { byRemote[remote] = nil }
  }

  /// STUN requests with this user name are for `slot` too: the remote peer may use the one before for a while.
  private func name(_ slot: PeerSlot, _ ufrag: String) {
    guard !slot.ufrags.contains(ufrag), byUfrag[ufrag] == nil else { return }
    byUfrag[ufrag] = slot
    slot.ufrags.append(ufrag)
    if slot.ufrags.count > 3 { byUfrag[slot.ufrags.removeFirst()] = nil }
  }

  /// Runs one step of `slot`'s peer, and delivers what it has to tell.
  func step(_ slot: PeerSlot, _ input: consuming Input, now: Timestamp) {
    let first = outbox.datagrams.count
    slot.peer.handle(input, now: now, into: &outbox)
    finishStep(slot, from: first)
  }

  /// Runs a step that has a result.
  func step<Result, Failure: Error>(
    _ slot: PeerSlot, _ body: (inout Peer, inout Outbox) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let first = outbox.datagrams.count
    defer { finishStep(slot, from: first) }
    return try body(&slot.peer, &outbox)
  }

  private func finishStep(_ slot: PeerSlot, from first: Int) {
    deadlines.set(outbox.nextDeadline, of: slot)
    learnRemotes(of: slot, from: first)
    if slot.reachesOwn { passOn(from: slot, first) }
    guard !outbox.events.isEmpty else { return }
    // What an event leads to may be another step: events are taken out before they are told.
    var events = spareEvents
    spareEvents = []
    swap(&events, &outbox.events)
    for event in events {
      switch event {
      case .stateChanged(.ended): remove(slot)
      case .usernameFragmentAdded(let ufrag): if slots.contains(slot) { name(slot, ufrag) }
      default: break
      }
      slot.deliver(event)
    }
    events.removeAll(keepingCapacity: true)
    spareEvents = events
  }

  /// Whoever a peer writes to may answer it: responses to our checks come from there.
  private func learnRemotes(of slot: PeerSlot, from first: Int) {
    for index in first..<outbox.datagrams.count {
      let remote = outbox.datagrams.entries[index].route.remote
      guard remote != slot.remotes.last, slots.contains(slot) else { continue }
      if own.contains(remote) {
        slot.reachesOwn = true
        continue
      }
      if byRemote[remote] == nil { byRemote[remote] = slot }
      slot.remotes.removeAll { $0 == remote }
      slot.remotes.append(remote)
    }
  }

  /// Ends every peer: whoever follows one hears so, and their tracks let go of them.
  func closeAll(now: Timestamp) {
    for slot in slots { _ = try? slot.perform(.close, now: now) }
  }

  // MARK: - Within the loop

  /// Two peers of one loop have the same address, so that only STUN requests tell whom a datagram between them is for. What
  /// such peers send each other does not leave the process: who sent it is known here. A request names its receiver, and
  /// everything else goes to whom the sender last sent a request.
  private func passOn(from slot: PeerSlot, _ first: Int) {
    outbox.datagrams.remove(from: first) { bytes, route in
      guard own.contains(route.remote) else { return false }
      if PacketKind(bytes) == .stun, let ufrag = ICEDemultiplexer.localUsernameFragment(of: bytes) {
        slot.neighbour = byUfrag[ufrag]
      }
      guard let target = slot.neighbour, slots.contains(target) else { return false }
      guard inward.count < Self.maximumInward else { return true }
      inward.append(
        Passed(target: target, bytes: [UInt8](copying: bytes), route: Route(local: route.remote, remote: route.local)))
      return true
    }
  }

  /// What is sent in answer waits for the next turn, so that sockets and posted work have theirs.
  private func deliverInward(now: Timestamp) {
    let due = inward
    inward = []
    for passed in due where slots.contains(passed.target) {
      var bytes = passed.bytes
      step(passed.target, .datagram(bytes.mutableSpan, passed.route), now: now)
    }
  }

  // MARK: - LoopHandler

  func datagram(_ bytes: inout MutableSpan<UInt8>, route: Route, now: Timestamp) {
    if PacketKind(bytes.span) == .stun, let message = try? STUNMessage(parsing: bytes.span) {
      // A request names its peer; everything else is known by where it comes from.
      let named = ICEDemultiplexer.localUsernameFragment(of: message)
      guard let slot = named.map({ byUfrag[$0] }) ?? byRemote[route.remote] else {
        unclaimed += 1
        return
      }
      step(slot, .stun(message, route), now: now)
    } else if let slot = byRemote[route.remote] {
      step(slot, .datagram(bytes._mutatingExtracting(0..<bytes.count), route), now: now)
    } else {
      unclaimed += 1
    }
  }

  /// What two peers of the loop send each other is delivered at once.
  var nextDeadline: Timestamp { inward.isEmpty ? deadlines.earliest : .zero }

  func deadlineReached(now: Timestamp) {
    if !inward.isEmpty { deliverInward(now: now) }
    var due = due
    self.due = []
    deadlines.removeDue(now, into: &due)
    // A step sets the next deadline; one that has come again waits for the next turn of the loop.
    for slot in due where slots.contains(slot) { step(slot, .deadline, now: now) }
    due.removeAll(keepingCapacity: true)
    self.due = due
  }

  func endOfBatch(now: Timestamp) {
    guard !outbox.datagrams.isEmpty else { return }
    loop.send(outbox.datagrams)
    outbox.datagrams.removeAll()
  }
}
