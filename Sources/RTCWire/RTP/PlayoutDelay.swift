public import RTCPrimitives

/// The bounds a sender asks a viewer to keep between capture and display: the playout-delay header extension
/// (webrtc.org/experiments/rtp-hdrext/playout-delay).
///
/// ```
///  0                   1                   2
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |       minimum         |       maximum         |   in units of 10 ms
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
public struct PlayoutDelay: Hashable, Sendable, BitwiseCopyable {
  /// The length of the element's data in bytes.
  public static let size = 3
  /// The longest delay that can be asked for: 40.95 s.
  public static let longest = TimeDelta.milliseconds(40_950)
  /// Show each frame as soon as it is decoded.
  public static let immediate = PlayoutDelay(packed: 0)

  private let packed: UInt32

  /// Both are rounded down to 10 ms and clamped to 0…`longest`; a maximum below the minimum is raised to it.
  public init(minimum: TimeDelta, maximum: TimeDelta) {
    let low = Self.units(minimum)
    self.init(packed: low << 12 | max(low, Self.units(maximum)))
  }

  /// The data of a header extension element; nil unless they are three bytes with minimum ≤ maximum.
  public init?(parsing data: Span<UInt8>) {
    guard data.count == Self.size else { return nil }
    self.init(packed: data.networkOrder24(at: 0))
    guard minimum <= maximum else { return nil }
  }

  private init(packed: UInt32) { self.packed = packed }

  /// The least delay, a multiple of 10 ms in 0…`longest`.
  public var minimum: TimeDelta { .milliseconds(Int64(packed >> 12) * 10) }
  /// The largest delay, a multiple of 10 ms in `minimum`…`longest`.
  public var maximum: TimeDelta { .milliseconds(Int64(packed & 0xFFF) * 10) }

  /// Writes the element's data, three bytes.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) { writer.writeUInt24(packed) }

  private static func units(_ delay: TimeDelta) -> UInt32 {
    UInt32(min(max(delay, .zero), longest).milliseconds / 10)
  }
}
