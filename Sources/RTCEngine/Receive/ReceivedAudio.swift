public import RTCPrimitives

/// A received Opus packet.
public struct ReceivedAudio: Sendable {
  /// RFC 6716 §3; the remote peer's bytes, not looked into.
  public var payload: [UInt8]
  /// The number of the packet in the order of sending, starting anywhere; a gap means packets that are lost or late.
  /// After a restart of the sender, numbers continue far above.
  public var number: Int64
  /// In units of 1/48 000 s.
  public var timestamp: RTPTimestamp
  /// The first packet after a silence that was not sent.
  public var marker: Bool
  /// When it came, on the receiver's monotonic clock.
  public var received: Timestamp
  /// The sender's sound level (RFC 6464); nil if absent.
  public var level: AudioLevel?

  /// Makes a packet.
  public init(
    payload: [UInt8], number: Int64, timestamp: RTPTimestamp, marker: Bool, received: Timestamp,
    level: AudioLevel? = nil
  ) {
    self.payload = payload
    self.number = number
    self.timestamp = timestamp
    self.marker = marker
    self.received = received
    self.level = level
  }
}
