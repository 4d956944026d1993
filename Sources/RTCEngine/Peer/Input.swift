package import RTCMedia
package import RTCPrimitives
package import RTCWire

/// An input of a peer, in addition to its owner's commands. A recorded list of inputs and commands, with their times,
/// reproduces any bug.
package enum Input: ~Escapable, ~Copyable {
  /// A datagram of this kind came in; decrypted in place, so the engine changes its bytes during the call.
  case datagram(MutableSpan<UInt8>, PacketKind?, Route)
  /// A datagram came in that was parsed already, to find the peer it is for.
  case stun(STUNMessage, Route)
  /// The deadline in the outbox was reached.
  case deadline
  /// The source of this transceiver's video has a new encoded picture.
  case frame(EncodedFrame, TransceiverID)
  /// The source of this transceiver's sound has a new packet.
  case audio(EncodedAudioFrame, TransceiverID)
}

/// The results of one step of a peer: datagrams to send, events, and the next deadline. Owned and reused by the caller,
/// who empties it after every step.
package struct Outbox: ~Copyable {
  /// Datagrams to send, in order.
  package var datagrams = DatagramBatch()
  /// Events, in order.
  package var events: [Event] = []
  /// The routes at which the remote peer was found.
  package var claims: [RouteClaim] = []
  /// When `Input.deadline` is due; `.distantFuture` when nothing is.
  package internal(set) var nextDeadline = Timestamp.distantFuture
  /// The reason of the next deadline; nil if there is none.
  package internal(set) var nextTimer: PeerTimer?

  /// An outbox with nothing in it.
  package init() {}

  /// Forgets datagrams and events, and keeps the memory.
  package mutating func removeAll() {
    datagrams.removeAll()
    events.removeAll(keepingCapacity: true)
    claims.removeAll(keepingCapacity: true)
  }
}

/// A route of the remote peer: datagrams by it belong to this peer of all that share a port.
package struct RouteClaim: Hashable, Sendable {
  package var route: Route
  /// Whether a request of ours was answered by this route. If not, an authentic request arrived by it, whose source
  /// address the remote peer can have forged.
  package var isProved: Bool
}
