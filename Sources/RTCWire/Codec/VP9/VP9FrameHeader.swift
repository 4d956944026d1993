public import RTCPrimitives

/// The first fields of a VP9 frame (VP9 bitstream specification §6.2).
public struct VP9FrameHeader: Hashable, Sendable {
  /// 0 = 8 bits 4:2:0, 1 = 8 bits 4:2:2 or 4:4:4, 2 and 3 the same with 10 or 12 bits.
  public let profile: Int
  /// Shows a picture decoded before, and codes none.
  public let showsExistingFrame: Bool
  /// True when the frame needs no other; false for one that shows an existing picture.
  public let isKeyFrame: Bool
  /// False for a frame that only updates references.
  public let isShown: Bool
  /// On key frames only.
  public let size: PixelSize?

  /// Nil when this is no VP9 frame.
  public init?(parsing frame: Span<UInt8>) {
    var reader = BitReader(frame)
    guard let parsed = try? Self(reading: &reader) else { return nil }
    self = parsed
  }

  private init(reading reader: inout BitReader) throws(BitstreamError) {
    guard try reader.bits(2) == 2 else { throw BitstreamError() }
    let low = try reader.bits(1)
    profile = try reader.bits(1) << 1 | low
    if profile == 3 { try reader.skip(1) }
    showsExistingFrame = try reader.flag()
    guard !showsExistingFrame else {
      (isKeyFrame, isShown, size) = (false, true, nil)
      return
    }
    isKeyFrame = try !reader.flag()
    isShown = try reader.flag()
    try reader.skip(1)  // error_resilient_mode
    size = isKeyFrame ? try Self.readSize(&reader, profile: profile) : nil
  }

  private static func readSize(_ reader: inout BitReader, profile: Int) throws(BitstreamError) -> PixelSize {
    guard try reader.bits(24) == 0x498342 else { throw BitstreamError() }
    if profile >= 2 { try reader.skip(1) }  // ten_or_twelve_bit
    let isRGB = try reader.bits(3) == 7
    if !isRGB { try reader.skip(1) }  // color_range
    if profile & 1 == 1 { try reader.skip(isRGB ? 1 : 3) }  // subsampling and a reserved bit
    let width = try reader.bits(16) + 1
    return try PixelSize(width: width, height: reader.bits(16) + 1)
  }
}
