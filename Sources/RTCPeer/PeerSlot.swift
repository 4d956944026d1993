import RTCEngine
import RTCICE
import RTCPrimitives
import RTCSCTP

/// One peer's place in the table. Lives on the loop's thread.
final class PeerSlot: Hashable, DeadlineHolder, LoadBearer, @unchecked Sendable {
  // Why unchecked: made and used on the loop's thread alone; references travel only inside work posted to it.
  /// Changed by the table's steps alone.
  var peer: Peer
  var heapIndex: Int?
  /// The address and carrier of the last received datagram.
  var lastRemote: RemoteEnd?
  /// IP addresses from which its requests were answered.
  var answeredFrom: Set<IPAddress> = []
  /// The sockets that its candidates are gathered from.
  let sockets: ICESockets
  /// The remote peer's address before there was a connection; nil: unknown.
  let remoteAddress: IPAddress?
  /// STUN and TURN servers that its connection names, beside the loop's.
  var iceServers: [ICEServer] = []
  /// Some of its remote peer's addresses are this loop's own.
  var reachesOwn = false
  /// The peer of this loop that it sends to, if its remote peer is one.
  weak var neighbour: PeerSlot?
  /// The processor cost of its datagrams.
  var load = SessionLoad()
  /// Datagrams that wait until everything else is done.
  var waiting: [(bytes: [UInt8], route: Route)] = []
  /// The first user name fragment of its STUN.
  let ufrag: String
  /// The user name fragments registered in the table, the newest last.
  var ufrags: [String] = []
  private unowned let table: PeerTable
  private let onEvent: (Event) -> Void
  /// Called when its candidates have changed, or when there will be no more; true: some are gone.
  var onCandidates: (_ hasLost: Bool) -> Void = { _ in }
  /// The last published addresses of its candidates.
  private var reachedAt: Set<SocketAddress>

  init(
    peer: consuming Peer, ufrag: String, sockets: ICESockets, remoteAddress: IPAddress?, table: PeerTable,
    onEvent: @escaping (Event) -> Void
  ) {
    self.peer = peer
    self.ufrag = ufrag
    self.sockets = sockets
    self.remoteAddress = remoteAddress
    reachedAt = Set(sockets.candidates(towards: remoteAddress).map(\.address))
    self.table = table
    self.onEvent = onEvent
  }

  func handle(_ input: consuming Input, now: Timestamp) { table.step(self, input, now: now) }

  /// Carries out a command; events follow within the call.
  @discardableResult
  func perform(_ command: Command, now: Timestamp) throws(NegotiationFailure) -> CommandResult {
    try table.step(self) { peer, outbox throws(NegotiationFailure) in
      try peer.perform(command, now: now, into: &outbox)
    }
  }

  /// Carries out a command for the data channels; events follow within the call.
  /// - Parameter onOpened: takes the handle of a new channel, before the channel's first event.
  func perform(
    _ command: DataChannelCommand, now: Timestamp, onOpened: (DataChannelHandle) -> Void = { _ in }
  ) throws(DataChannelError) {
    try table.step(self) { peer, outbox throws(DataChannelError) in
      if let handle = try peer.perform(command, now: now, into: &outbox) { onOpened(handle) }
    }
  }

  func deliver(_ event: Event) { onEvent(event) }

  // MARK: - Candidates

  /// Its sockets have gathered other candidates.
  func candidatesChanged(_ now: Timestamp) {
    // A peer that has ended takes none.
    let candidates = sockets.candidates(towards: remoteAddress)
    _ = try? perform(.setLocalCandidates(candidates, isComplete: sockets.isComplete), now: now)
    let former = reachedAt
    reachedAt = Set(candidates.map(\.address))
    onCandidates(!former.isSubset(of: reachedAt))
  }

  static func == (a: PeerSlot, b: PeerSlot) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
