public import RTCPrimitives

/// When the first sample of a packet was captured, in the capturer's NTP clock: the abs-capture-time header extension
/// (webrtc.org/experiments/rtp-hdrext/abs-capture-time).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |           absolute capture timestamp, 32.32 seconds           |
/// |                                                               |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |   estimated capture clock offset, signed 32.32 (optional)     |
/// |                                                               |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
public struct AbsoluteCaptureTime: Hashable, Sendable, BitwiseCopyable {
  /// The moment of capture on the capturer's NTP clock.
  public var captured: NTPTimestamp
  /// The capturer's NTP clock minus the sender's, in units of 2⁻³² s; nil when the sender does not know it.
  public var clockOffset: Int64?

  /// An element of 8 bytes, or of 16 with `clockOffset`.
  public init(captured: NTPTimestamp, clockOffset: Int64? = nil) {
    self.captured = captured
    self.clockOffset = clockOffset
  }

  /// The data of a header extension element; nil unless they are 8 or 16 bytes.
  public init?(parsing data: Span<UInt8>) {
    guard data.count == 8 || data.count == 16 else { return nil }
    captured = NTPTimestamp(data.networkOrder64(at: 0))
    clockOffset = data.count == 16 ? Int64(bitPattern: data.networkOrder64(at: 8)) : nil
  }

  /// The length on the wire: 8 or 16.
  public var size: Int { clockOffset == nil ? 8 : 16 }

  /// Writes the element's data, `size` bytes.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) {
    writer.write(captured.value)
    if let clockOffset { writer.write(UInt64(bitPattern: clockOffset)) }
  }
}
