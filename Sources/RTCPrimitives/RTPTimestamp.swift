/// RTP timestamp (RFC 3550 §5.1), 32 bits, in units of the payload's clock rate (90 kHz for video).
public struct RTPTimestamp: SerialNumber {
  /// The 32 bits on the wire.
  public var value: UInt32
  /// The timestamp with these 32 bits.
  @inlinable
  public init(_ value: UInt32) { self.value = value }

  /// Makes the timestamp of a moment in units of video's clock, 90 kHz, from the monotonic clock's origin. Packets have
  /// this value plus an offset of the stream's own.
  public init(video time: Timestamp) {
    value = UInt32(truncatingIfNeeded: time.nanoseconds / 1_000 * 9 / 100)
  }
}
