public import RTCPrimitives

/// The properties of pictures in a sequence header OBU (AV1 bitstream specification §5.5).
public struct AV1SequenceHeader: Hashable, Sendable {
  /// 0 = Main, 1 = High, 2 = Professional.
  public let profile: Int
  /// `seq_level_idx` of the first operating point.
  public let level: Int
  /// `seq_tier` of the first operating point.
  public let tier: Int
  /// The largest picture's.
  public let size: PixelSize
  /// Bits in each sample: 8, 10 or 12.
  public let bitDepth: Int
  /// One picture only, whose frame header is shortened.
  public let isStillPicture: Bool

  /// Nil when malformed. `payload` is the OBU without its header.
  public init?(parsing payload: Span<UInt8>) {
    var reader = BitReader(payload)
    guard let parsed = try? Self(reading: &reader) else { return nil }
    self = parsed
  }

  private init(reading reader: inout BitReader) throws(BitstreamError) {
    profile = try reader.bits(3)
    guard profile <= 2 else { throw BitstreamError() }
    try reader.skip(1)  // still_picture
    isStillPicture = try reader.flag()
    if isStillPicture {
      level = try reader.bits(5)
      tier = 0
    } else {
      (level, tier) = try Self.readOperatingPoints(&reader)
    }
    let widthBits = try reader.bits(4) + 1
    let heightBits = try reader.bits(4) + 1
    let width = try reader.bits(widthBits) + 1
    size = try PixelSize(width: width, height: reader.bits(heightBits) + 1)
    try Self.skipTools(&reader, isStillPicture: isStillPicture)
    if try !reader.flag() {
      bitDepth = 8
    } else if profile == 2, try reader.flag() {
      bitDepth = 12
    } else {
      bitDepth = 10
    }
  }

  private static func readOperatingPoints(
    _ reader: inout BitReader
  ) throws(BitstreamError) -> (level: Int, tier: Int) {
    var delayBits: Int?
    if try reader.flag() {  // timing_info_present_flag
      try reader.skip(64)
      if try reader.flag() { _ = try reader.unsignedGolomb() }
      if try reader.flag() {  // decoder_model_info_present_flag
        delayBits = try reader.bits(5) + 1
        try reader.skip(42)
      }
    }
    let hasDisplayDelay = try reader.flag()
    var first: (level: Int, tier: Int)?
    for _ in 0...(try reader.bits(5)) {
      try reader.skip(12)  // operating_point_idc
      let level = try reader.bits(5)
      let tier = level > 7 ? try reader.bits(1) : 0
      if let delayBits, try reader.flag() { try reader.skip(2 * delayBits + 1) }
      if hasDisplayDelay, try reader.flag() { try reader.skip(4) }
      first = first ?? (level, tier)
    }
    return first ?? (0, 0)
  }

  private static func skipTools(_ reader: inout BitReader, isStillPicture: Bool) throws(BitstreamError) {
    if !isStillPicture, try reader.flag() { try reader.skip(7) }  // frame ids
    try reader.skip(3)  // superblock size, filter intra, intra edge filter
    if !isStillPicture {
      try reader.skip(4)
      let hasOrderHint = try reader.flag()
      if hasOrderHint { try reader.skip(2) }
      let forcesScreenTools = try reader.flag() ? true : try reader.flag()
      if forcesScreenTools, try !reader.flag() { try reader.skip(1) }
      if hasOrderHint { try reader.skip(3) }
    }
    try reader.skip(3)  // superres, cdef, restoration
  }
}
