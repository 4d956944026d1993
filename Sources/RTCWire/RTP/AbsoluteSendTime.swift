public import RTCPrimitives

/// When a packet left the sender: the abs-send-time header extension (webrtc.org/experiments/rtp-hdrext/abs-send-time).
///
/// ```
///  0                   1                   2
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  seconds  |             fraction              |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
///
/// 6.18 fixed-point seconds, about 3.8 µs a unit; wraps every 64 s, so only differences mean anything.
public struct AbsoluteSendTime: Hashable, Sendable, BitwiseCopyable {
  /// The length of the element's data in bytes.
  public static let size = 3
  /// Stands where the real time is patched in later.
  public static let placeholder = AbsoluteSendTime(0)

  /// The 24 bits on the wire.
  public let value: UInt32

  /// Takes the low 24 bits of `value`.
  public init(_ value: UInt32) { self.value = value & 0xFF_FFFF }

  /// The moment in units of 2⁻¹⁸ s, rounded down, modulo 64 s.
  public init(_ time: Timestamp) {
    let period: Int64 = 64_000_000_000
    let remainder = time.nanoseconds % period
    let nanoseconds = remainder < 0 ? remainder + period : remainder
    self.init(UInt32(truncatingIfNeeded: (nanoseconds << 18) / 1_000_000_000))
  }

  /// The data of a header extension element; nil unless they are three bytes.
  public init?(parsing data: Span<UInt8>) {
    guard data.count == Self.size else { return nil }
    self.init(data.networkOrder24(at: 0))
  }

  /// The time from `earlier` to this one, within ±32 s.
  public func since(_ earlier: AbsoluteSendTime) -> TimeDelta {
    let units = Int64(Int32(bitPattern: (value &- earlier.value) << 8) >> 8)
    return .nanoseconds((units * 1_000_000_000) >> 18)
  }

  /// Writes the element's data, three bytes.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) { writer.writeUInt24(value) }
}
