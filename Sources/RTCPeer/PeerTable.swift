import RTCEngine
import RTCIce
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
  private(set) var nextDeadline = Timestamp.distantFuture
  /// Datagrams that no peer claimed.
  private(set) var unclaimed = 0

  init(loop: EventLoop, maximumPeers: Int) {
    self.loop = loop
    self.maximumPeers = maximumPeers
  }

  // MARK: - Peers

  var isFull: Bool { slots.count >= maximumPeers }
  var count: Int { slots.count }

  func insert(_ slot: PeerSlot) {
    slots.insert(slot)
    name(slot, slot.ufrag)
  }

  private func remove(_ slot: PeerSlot) {
    guard slots.remove(slot) != nil else { return }
    for ufrag in slot.ufrags { byUfrag[ufrag] = nil }
    for remote in slot.remotes where byRemote[remote] === slot { byRemote[remote] = nil }
  }

  /// STUN requests with this user name are for `slot` too: the far side may use the one before for a while.
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
    slot.nextDeadline = outbox.nextDeadline
    if slot.nextDeadline < nextDeadline { nextDeadline = slot.nextDeadline }
    learnRemotes(of: slot, from: first)
    guard !outbox.events.isEmpty else { return }
    let events = outbox.events
    outbox.events.removeAll(keepingCapacity: true)
    for event in events {
      switch event {
      case .stateChanged(.ended): remove(slot)
      case .usernameFragmentAdded(let ufrag): if slots.contains(slot) { name(slot, ufrag) }
      default: break
      }
      slot.deliver(event)
    }
  }

  /// Whoever a peer writes to may answer it: responses to our checks come from there.
  private func learnRemotes(of slot: PeerSlot, from first: Int) {
    for index in first..<outbox.datagrams.count {
      let remote = outbox.datagrams.entries[index].route.remote
      guard remote != slot.remotes.last, slots.contains(slot) else { continue }
      if byRemote[remote] == nil { byRemote[remote] = slot }
      slot.remotes.removeAll { $0 == remote }
      slot.remotes.append(remote)
    }
  }

  // MARK: - LoopHandler

  func datagram(_ bytes: inout MutableSpan<UInt8>, route: Route, now: Timestamp) {
    guard let slot = owner(of: bytes.span, from: route.remote) else {
      unclaimed += 1
      return
    }
    step(slot, .datagram(bytes._mutatingExtracting(0..<bytes.count), route), now: now)
  }

  /// A STUN request names its peer; everything else is known by where it comes from.
  private func owner(of bytes: Span<UInt8>, from remote: SocketAddress) -> PeerSlot? {
    if PacketKind(bytes) == .stun, let ufrag = IceDemultiplexer.localUsernameFragment(of: bytes) {
      return byUfrag[ufrag]
    }
    return byRemote[remote]
  }

  func deadlineReached(now: Timestamp) {
    nextDeadline = .distantFuture
    for slot in slots {
      if slot.nextDeadline <= now { step(slot, .deadline, now: now) }
      if slot.nextDeadline < nextDeadline { nextDeadline = slot.nextDeadline }
    }
  }

  func endOfBatch(now: Timestamp) {
    guard !outbox.datagrams.isEmpty else { return }
    loop.send(outbox.datagrams)
    outbox.datagrams.removeAll()
  }
}
