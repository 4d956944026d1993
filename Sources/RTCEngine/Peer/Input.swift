public import RTCMedia
public import RTCPrimitives

/// Everything that can happen to a peer. A recorded list of these, with their times, replays any bug.
public enum Input: ~Escapable, ~Copyable {
  /// A datagram came in; decrypted in place, so its bytes are the engine's to change during the call.
  case datagram(MutableSpan<UInt8>, Route)
  /// The deadline in the outbox was reached.
  case deadline
  /// The source of this transceiver's video has a new encoded picture.
  case frame(EncodedFrame, TransceiverID)
  /// The source of this transceiver's sound has a new packet.
  case audio(EncodedAudioFrame, TransceiverID)
  /// The application wants something.
  case command(Command)
}

/// What one step of a peer leaves behind: datagrams to send, things to tell, and when to come back. Owned and reused by
/// the caller, who empties it after every step.
public struct Outbox: ~Copyable {
  public var datagrams = DatagramBatch()
  public var events: [Event] = []
  /// When `Input.deadline` is due, and why; `.distantFuture` when nothing is.
  public internal(set) var nextDeadline = Timestamp.distantFuture

  public init() {}

  /// Forgets datagrams and events, and keeps the memory.
  public mutating func removeAll() {
    datagrams.removeAll()
    events.removeAll(keepingCapacity: true)
  }
}
