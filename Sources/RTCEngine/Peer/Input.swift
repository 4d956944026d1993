public import RTCMedia
public import RTCPrimitives
public import RTCWire

/// What can happen to a peer, beside the commands of its owner. A recorded list of these and of the commands, with their
/// times, replays any bug.
public enum Input: ~Escapable, ~Copyable {
  /// A datagram came in; decrypted in place, so its bytes are the engine's to change during the call.
  case datagram(MutableSpan<UInt8>, Route)
  /// A datagram came in that was parsed already, to find the peer it is for.
  case stun(STUNMessage, Route)
  /// The deadline in the outbox was reached.
  case deadline
  /// The source of this transceiver's video has a new encoded picture.
  case frame(EncodedFrame, TransceiverID)
  /// The source of this transceiver's sound has a new packet.
  case audio(EncodedAudioFrame, TransceiverID)
}

/// What one step of a peer leaves behind: datagrams to send, things to tell, and when to come back. Owned and reused by
/// the caller, who empties it after every step.
public struct Outbox: ~Copyable {
  public var datagrams = DatagramBatch()
  public var events: [Event] = []
  /// When `Input.deadline` is due; `.distantFuture` when nothing is.
  public internal(set) var nextDeadline = Timestamp.distantFuture
  /// What is due then; nil when nothing is.
  public internal(set) var nextTimer: PeerTimer?

  public init() {}

  /// Forgets datagrams and events, and keeps the memory.
  public mutating func removeAll() {
    datagrams.removeAll()
    events.removeAll(keepingCapacity: true)
  }
}

/// The reasons a peer may want to be woken, each the next deadline of one of its machines.
public enum PeerTimer: CaseIterable, Hashable, Sendable {
  /// ICE checks, consent and keep-alive; DTLS retransmission; the end of an attempt to connect.
  case transport
  /// The pacer may send its next packets.
  case pacer
  /// Sender and receiver reports.
  case reports
  /// The estimate of what the path bears.
  case rate
  /// An audio sender's own bitrate.
  case audioSender
  /// Missing packets or a key frame are asked for again, or given up.
  case videoReceiver
  /// Transport-wide feedback to the sender.
  case feedback
  /// The last packets may be lost without the viewer's knowing; a source may be asked for another key frame.
  case videoSender
  /// SCTP: retransmissions, delayed acknowledgements, heartbeats.
  case dataChannels
}

/// The earliest of several deadlines, and whose it is.
package struct EarliestDeadline<Timer> {
  /// `.distantFuture` when nothing is due.
  package private(set) var time = Timestamp.distantFuture
  package private(set) var timer: Timer?

  package init() {}

  /// Of several at the same time, the first that was considered counts.
  package mutating func consider(_ deadline: Timestamp, _ candidate: Timer) {
    guard deadline < time else { return }
    time = deadline
    timer = candidate
  }
}
