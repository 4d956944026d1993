import RTCEngine
import RTCPrimitives

/// One peer's place in the table. Lives on the loop's thread.
final class PeerSlot: Hashable, @unchecked Sendable {
  // Why unchecked: made and used on the loop's thread alone; references travel only inside work posted to it.
  var peer: Peer
  var nextDeadline = Timestamp.distantFuture
  /// Where this peer's datagrams come from, the latest last.
  var remotes: [SocketAddress] = []
  /// Some of its far side's addresses are this loop's own.
  var reachesOwn = false
  /// The peer of this loop that it sends to, if its far side is one.
  weak var neighbour: PeerSlot?
  /// The first user name fragment of its STUN.
  let ufrag: String
  /// All that are known of the table, the latest last.
  var ufrags: [String] = []
  private unowned let table: PeerTable
  private let onEvent: (Event) -> Void

  init(peer: consuming Peer, ufrag: String, table: PeerTable, onEvent: @escaping (Event) -> Void) {
    self.peer = peer
    self.ufrag = ufrag
    self.table = table
    self.onEvent = onEvent
  }

  func handle(_ input: consuming Input, now: Timestamp) { table.step(self, input, now: now) }

  func deliver(_ event: Event) { onEvent(event) }

  static func == (a: PeerSlot, b: PeerSlot) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
