public import RTCPrimitives

/// A received Opus packet.
public struct ReceivedAudio: Sendable {
  /// RFC 6716 §3; the remote peer's bytes, not looked into.
  public var payload: [UInt8]
  /// Counts the track's packets in the order they were sent, from any number on; a gap means that packets were lost or are
  /// still to come. A sender that begins anew counts on far above.
  public var number: Int64
  /// In units of 1/48 000 s.
  public var timestamp: RTPTimestamp
  /// The first packet after a silence that was not sent.
  public var marker: Bool
  /// When it came, on the receiver's monotonic clock.
  public var received: Timestamp
  /// As the sender says (RFC 6464); nil when it says nothing.
  public var level: AudioLevel?

  /// See the properties.
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
