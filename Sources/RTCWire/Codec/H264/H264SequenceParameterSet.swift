public import RTCPrimitives

/// The properties of pictures in a sequence parameter set (ITU-T H.264 §7.3.2.1.1 and annex E).
public struct H264SequenceParameterSet: Hashable, Sendable {
  /// `profile_idc`: 66 = Baseline, 77 = Main, 100 = High (ITU-T H.264 annex A).
  public let profile: UInt8
  /// `constraint_set0_flag` … `constraint_set5_flag` and two bits of nothing.
  public let constraints: UInt8
  /// Ten times the level: 31 is level 3.1.
  public let level: UInt8
  /// `seq_parameter_set_id`, 0…31, by which picture parameter sets refer to it.
  public let id: Int
  /// After cropping.
  public let size: PixelSize
  /// 0 = grey, 1 = 4:2:0, 2 = 4:2:2, 3 = 4:4:4.
  public let chromaFormat: Int
  /// Bits in each sample, 8…14: the larger of luma's and chroma's.
  public let bitDepth: Int
  /// Pictures may be made of two fields.
  public let isInterlaced: Bool
  /// How many pictures may precede another in decoding order and follow it in output order; nil when it is not said.
  public let reorderDepth: Int?

  /// Nil when it is malformed. `unit` begins with the NAL unit's header.
  public init?(parsing unit: Span<UInt8>) {
    guard unit.count >= 4, H264NALUnitHeader.Kind(rawValue: unit[0]) == .sequenceParameterSet else { return nil }
    let payload = H264NALUnitHeader.payload(of: unit, limit: 4096)
    var reader = BitReader(payload.span)
    guard let parsed = try? Self(reading: &reader) else { return nil }
    self = parsed
  }

  private init(reading reader: inout BitReader) throws(BitstreamError) {
    profile = try UInt8(reader.bits(8))
    constraints = try UInt8(reader.bits(8))
    level = try UInt8(reader.bits(8))
    id = try reader.unsignedGolomb()
    guard id < 32 else { throw BitstreamError() }
    (chromaFormat, bitDepth) = try Self.readSamples(&reader, profile: profile)
    _ = try reader.unsignedGolomb()  // log2_max_frame_num_minus4
    let orderIsDecodingOrder = try Self.readPictureOrder(&reader)
    _ = try reader.unsignedGolomb()  // max_num_ref_frames
    try reader.skip(1)  // gaps_in_frame_num_value_allowed_flag
    let width = try reader.unsignedGolomb() + 1
    let heightUnits = try reader.unsignedGolomb() + 1
    isInterlaced = try !reader.flag()
    if isInterlaced { try reader.skip(1) }  // mb_adaptive_frame_field_flag
    try reader.skip(1)  // direct_8x8_inference_flag
    guard width <= 1056, heightUnits <= 1056 else { throw BitstreamError() }
    var cropped = PixelSize(width: width * 16, height: heightUnits * 16 * (isInterlaced ? 2 : 1))
    if try reader.flag() {
      try Self.crop(&cropped, &reader, chromaFormat: chromaFormat, isInterlaced: isInterlaced)
    }
    size = cropped
    // Baseline knows no B-frames; without them, and with order type 2, nothing is reordered.
    let fallback = orderIsDecodingOrder || profile == 66 ? 0 : nil
    reorderDepth = try reader.flag() ? Self.readReorderDepth(&reader) ?? fallback : fallback
  }

  private static func readSamples(
    _ reader: inout BitReader, profile: UInt8
  ) throws(BitstreamError) -> (chromaFormat: Int, bitDepth: Int) {
    guard [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135].contains(profile) else { return (1, 8) }
    let chromaFormat = try reader.unsignedGolomb()
    guard chromaFormat <= 3 else { throw BitstreamError() }
    if chromaFormat == 3 { try reader.skip(1) }  // separate_colour_plane_flag
    let luma = try reader.unsignedGolomb() + 8
    let chroma = try reader.unsignedGolomb() + 8
    guard luma <= 14, chroma <= 14 else { throw BitstreamError() }
    try reader.skip(1)  // qpprime_y_zero_transform_bypass_flag
    if try reader.flag() {
      for index in 0..<(chromaFormat == 3 ? 12 : 8) where try reader.flag() {
        try skipScalingList(&reader, count: index < 6 ? 16 : 64)
      }
    }
    return (chromaFormat, max(luma, chroma))
  }

  private static func skipScalingList(_ reader: inout BitReader, count: Int) throws(BitstreamError) {
    var last = 8
    var next = 8
    for _ in 0..<count {
      if next != 0 { next = try (last + reader.signedGolomb()) & 0xFF }
      if next != 0 { last = next }
    }
  }

  /// True when pictures are output in the order they are decoded in.
  private static func readPictureOrder(_ reader: inout BitReader) throws(BitstreamError) -> Bool {
    switch try reader.unsignedGolomb() {
    case 0:
      _ = try reader.unsignedGolomb()
      return false
    case 1:
      try reader.skip(1)
      _ = try reader.signedGolomb()
      _ = try reader.signedGolomb()
      let count = try reader.unsignedGolomb()
      guard count < 256 else { throw BitstreamError() }
      for _ in 0..<count { _ = try reader.signedGolomb() }
      return false
    case 2: return true
    default: throw BitstreamError()
    }
  }

  private static func crop(
    _ size: inout PixelSize, _ reader: inout BitReader, chromaFormat: Int, isInterlaced: Bool
  ) throws(BitstreamError) {
    let horizontal = chromaFormat == 1 || chromaFormat == 2 ? 2 : 1
    let vertical = (chromaFormat == 1 ? 2 : 1) * (isInterlaced ? 2 : 1)
    let (left, right) = (try reader.unsignedGolomb(), try reader.unsignedGolomb())
    let (top, bottom) = (try reader.unsignedGolomb(), try reader.unsignedGolomb())
    size.width -= (left + right) * horizontal
    size.height -= (top + bottom) * vertical
    guard size.width > 0, size.height > 0 else { throw BitstreamError() }
  }

  /// Reads the VUI up to `max_num_reorder_frames` (§E.1.1).
  private static func readReorderDepth(_ reader: inout BitReader) throws(BitstreamError) -> Int? {
    if try reader.flag(), try reader.bits(8) == 255 { try reader.skip(32) }  // sample aspect ratio
    if try reader.flag() { try reader.skip(1) }  // overscan
    if try reader.flag() {  // video_signal_type
      try reader.skip(4)
      if try reader.flag() { try reader.skip(24) }
    }
    if try reader.flag() {  // chroma sample location
      _ = try reader.unsignedGolomb()
      _ = try reader.unsignedGolomb()
    }
    if try reader.flag() { try reader.skip(65) }  // timing
    let hasNALReference = try reader.flag()
    if hasNALReference { try skipReferenceDecoder(&reader) }
    let hasVCLReference = try reader.flag()
    if hasVCLReference { try skipReferenceDecoder(&reader) }
    if hasNALReference || hasVCLReference { try reader.skip(1) }
    try reader.skip(1)  // pic_struct_present_flag
    guard try reader.flag() else { return nil }  // bitstream_restriction_flag
    try reader.skip(1)
    for _ in 0..<4 { _ = try reader.unsignedGolomb() }
    return try reader.unsignedGolomb()
  }

  /// `hrd_parameters` (§E.1.2).
  private static func skipReferenceDecoder(_ reader: inout BitReader) throws(BitstreamError) {
    let count = try reader.unsignedGolomb() + 1
    guard count <= 32 else { throw BitstreamError() }
    try reader.skip(8)
    for _ in 0..<count {
      _ = try reader.unsignedGolomb()
      _ = try reader.unsignedGolomb()
      try reader.skip(1)
    }
    try reader.skip(20)
  }
}

extension H264SequenceParameterSet {
  /// The parameter for SDP; nil for profiles that browsers do not decode in every picture format (ITU-T H.264 annex A).
  public var profileLevelID: H264ProfileLevelID? {
    guard [66, 77, 100].contains(profile) else { return nil }
    return H264ProfileLevelID(profileIDC: profile, constraints: constraints, levelIDC: level)
  }
}
