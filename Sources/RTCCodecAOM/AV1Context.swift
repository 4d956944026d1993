import CAOM
package import RTCVideoCoding
package import RTCMedia
import RTCWire

/// The owner of one libaom encoder: every frame is coded with the quantiser it is told.
///
/// libaom 3.6 takes an active map and does nothing with it when every frame's quantiser is set. So whoever wants a part left
/// as it is gives for that part what the last frame showed: nothing is left to code there, and with the filters off the
/// decoded picture keeps it bit for bit, within whole superblocks (64×64).
@safe
package final class AV1Context: BlockCoder {
  private let format: CodedFormat
  private let context: UnsafeMutablePointer<aom_codec_ctx_t>
  private var config: aom_codec_enc_cfg_t
  private var frames: aom_codec_pts_t = 0
  private var hasPalette = true

  /// The flags that switch off all references but the last frame: others would double the search.
  private static let lastAlone =
    AOM_EFLAG_NO_REF_LAST2 | AOM_EFLAG_NO_REF_LAST3 | AOM_EFLAG_NO_REF_GF | AOM_EFLAG_NO_REF_ARF
    | AOM_EFLAG_NO_REF_BWD | AOM_EFLAG_NO_REF_ARF2

  /// Whether the context has deblocking and directional enhancement, which also change blocks that are not coded.
  package var hasFilters: Bool { format.contentHint == .motion }

  /// Creates a context. Throws `unsupportedSize` for sides outside 1…16,383 pixels.
  package init(_ settings: VideoEncoderSettings, _ matrix: ColorSpace.Matrix) throws(VideoEncoderError) {
    let format = CodedFormat(settings, matrix)
    guard (1...16383).contains(format.size.width), (1...16383).contains(format.size.height) else {
      throw .unsupportedSize(format.size)
    }
    self.format = format
    unsafe config = aom_codec_enc_cfg_t()
    unsafe aom_codec_enc_config_default(aom_codec_av1_cx(), &config, UInt32(AOM_USAGE_REALTIME))
    unsafe config.g_profile = format.chroma == .full ? 1 : 0
    unsafe config.g_w = UInt32(format.size.width)
    unsafe config.g_h = UInt32(format.size.height)
    // Two threads take a quarter more processor time in all, and two thirds of the time; small pictures need no second.
    let isLarge = format.size.width * format.size.height >= 1280 * 720
    unsafe config.g_threads = isLarge ? UInt32(max(1, min(format.threads, 8))) : 1
    unsafe config.g_timebase = aom_rational_t(num: 1, den: 30)
    unsafe config.g_lag_in_frames = 0
    unsafe config.g_error_resilient = 0
    // The quantiser is set for each frame, so libaom's own rate control has nothing to decide and must drop nothing. With a
    // constant bitrate libaom 3.6 would leave a block of 32×32 and more as it was where what changed in it adds up to nothing,
    // such as a black and a white square that change places.
    unsafe config.rc_end_usage = AOM_VBR
    unsafe config.rc_target_bitrate = 50_000
    unsafe config.rc_dropframe_thresh = 0
    unsafe config.rc_min_quantizer = 20
    unsafe config.rc_max_quantizer = 20
    unsafe config.kf_mode = AOM_KF_DISABLED
    // Destroyed and freed in `deinit` alone, also where `init` throws from here on; libaom takes zeros for a context that
    // was never made.
    unsafe context = UnsafeMutablePointer.allocate(capacity: 1)
    unsafe context.initialize(to: aom_codec_ctx_t())
    try check(unsafe caom_encoder_init(context, &config))
    try configure()
  }

  deinit {
    unsafe aom_codec_destroy(context)
    unsafe context.deinitialize(count: 1)
    unsafe context.deallocate()
  }

  /// Whether the context can go on with these settings.
  package func suits(_ settings: VideoEncoderSettings, _ matrix: ColorSpace.Matrix) -> Bool {
    format == CodedFormat(settings, matrix)
  }

  private func configure() throws(VideoEncoderError) {
    let isScreen = format.contentHint != .motion
    try set(AOME_SET_CPUUSED, Self.speed(format.size))
    try set(AV1E_SET_TUNE_CONTENT, isScreen ? Int(AOM_CONTENT_SCREEN.rawValue) : Int(AOM_CONTENT_DEFAULT.rawValue))
    try set(AV1E_SET_ENABLE_PALETTE, isScreen ? 1 : 0)
    try set(AV1E_SET_AQ_MODE, 0)
    try set(AV1E_SET_ROW_MT, 1)
    try set(AV1E_SET_SUPERBLOCK_SIZE, Int(AOM_SUPERBLOCK_SIZE_64X64.rawValue))
    try set(AV1E_SET_LOOPFILTER_CONTROL, hasFilters ? 1 : 0)
    try set(AV1E_SET_ENABLE_CDEF, hasFilters ? 1 : 0)
    for control in Self.unused { try set(control, 0) }
    for control in [AV1E_SET_COEFF_COST_UPD_FREQ, AV1E_SET_MODE_COST_UPD_FREQ, AV1E_SET_MV_COST_UPD_FREQ] {
      try set(control, 3)  // Never within a frame.
    }
    try set(AV1E_SET_MAX_REFERENCE_FRAMES, 3)
    try set(AV1E_SET_INTRA_DEFAULT_TX_ONLY, 1)
    try set(AV1E_SET_DISABLE_TRELLIS_QUANT, 1)
    try describeColour()
  }

  /// The tools that are switched off, as they cost time and gain nothing for screens: without them a key frame of 1080p
  /// text takes half the time at the same size. Copies within a frame (intra block copy) make no difference at these
  /// speeds.
  private static let unused = [
    AV1E_SET_ENABLE_INTRABC, AV1E_SET_ENABLE_OBMC, AV1E_SET_ENABLE_GLOBAL_MOTION, AV1E_SET_ENABLE_WARPED_MOTION,
    AV1E_SET_ENABLE_REF_FRAME_MVS, AV1E_SET_ENABLE_ORDER_HINT, AV1E_SET_ENABLE_TPL_MODEL, AV1E_SET_DELTAQ_MODE,
    AV1E_SET_ENABLE_RESTORATION, AV1E_SET_ENABLE_CFL_INTRA, AV1E_SET_ENABLE_SMOOTH_INTRA, AV1E_SET_ENABLE_ANGLE_DELTA,
    AV1E_SET_ENABLE_FILTER_INTRA, AV1E_SET_ENABLE_INTRA_EDGE_FILTER, AV1E_SET_ENABLE_TX64,
    AV1E_SET_ENABLE_RECT_PARTITIONS,
  ]

  /// The speed of libaom for pictures of `size`. Speed 10 takes as many bytes as 9, and 6 % more than 8 in half its
  /// time (1080p pages). Small pictures leave time for a slower one.
  private static func speed(_ size: PixelSize) -> Int {
    switch size.width * size.height {
    case ...(640 * 360): 8
    case ...(1280 * 720): 9
    default: 10
    }
  }

  /// Describes the colours in the stream. Screens are sRGB; the matrix and the range are those of the samples. AV1
  /// cannot express where the chroma samples of 4:2:0 lie here, in the middle of four pixels.
  private func describeColour() throws(VideoEncoderError) {
    let matrix = format.matrix == .bt709 ? AOM_CICP_MC_BT_709 : AOM_CICP_MC_BT_601
    try set(AV1E_SET_COLOR_PRIMARIES, Int(AOM_CICP_CP_BT_709.rawValue))
    try set(AV1E_SET_TRANSFER_CHARACTERISTICS, Int(AOM_CICP_TC_SRGB.rawValue))
    try set(AV1E_SET_MATRIX_COEFFICIENTS, Int(matrix.rawValue))
    try set(AV1E_SET_COLOR_RANGE, Int(AOM_CR_STUDIO_RANGE.rawValue))
    try set(AV1E_SET_CHROMA_SAMPLE_POSITION, Int(AOM_CSP_UNKNOWN.rawValue))
  }

  /// The coarsest quantiser at which blocks of few colours are coded as palettes. Palettes are sharper for the bytes,
  /// but a key frame takes twice the time and, at coarser quantisers, up to three times the bytes.
  private static let coarsestPalette = 48

  /// Codes a picture of the format's size and sampling.
  ///
  /// - Parameters:
  ///   - quantizer: 1 (finest) … 63. At 0, lossless, libaom 3.6 gives frames that decode to wrong samples.
  ///   - kept: not used: where nothing differs, libaom finds nothing to code.
  ///   - movement: not used.
  package func encode(
    _ picture: InputPicture, quantizer: Int, keyFrame: Bool, kept: [Bool], movement: BlockMovement, isUpper: Bool
  ) throws(VideoEncoderError) -> CodedPicture {
    let palette = !keyFrame || quantizer <= Self.coarsestPalette
    precondition(picture.size == format.size && picture.format == (format.chroma == .full ? .i444 : .i420))
    if unsafe config.rc_min_quantizer != UInt32(quantizer) {
      unsafe config.rc_min_quantizer = UInt32(quantizer)
      unsafe config.rc_max_quantizer = UInt32(quantizer)
      try check(unsafe aom_codec_enc_config_set(context, &config))
    }
    if palette != hasPalette, format.contentHint != .motion {
      try set(AV1E_SET_ENABLE_PALETTE, palette ? 1 : 0)
      hasPalette = palette
    }
    // `picture` holds the planes for as long as this call runs; libaom copies what it keeps.
    var image = unsafe aom_image_t()
    let planes = unsafe (0..<3).map { unsafe picture.unsafePlane($0) }
    unsafe aom_img_wrap(
      &image, format.chroma == .full ? AOM_IMG_FMT_I444 : AOM_IMG_FMT_I420, config.g_w, config.g_h, 1, planes[0].base)
    unsafe (image.planes.0, image.planes.1, image.planes.2) = (planes[0].base, planes[1].base, planes[2].base)
    unsafe (image.stride.0, image.stride.1, image.stride.2) =
      (Int32(planes[0].stride), Int32(planes[1].stride), Int32(planes[2].stride))
    let flags = keyFrame ? AOM_EFLAG_FORCE_KF : Self.lastAlone
    try check(unsafe aom_codec_encode(context, &image, frames, 1, aom_enc_frame_flags_t(flags)))
    frames += 1
    return try takeOutput()
  }

  /// Calls `body` with each plane as the viewers' decoders have it after the last frame: its index, first sample, stride,
  /// and bytes from one sample to the next. Valid within the call alone.
  @unsafe
  package func withReconstruction(
    _ body: (_ plane: Int, _ base: UnsafePointer<UInt8>, _ stride: Int, _ step: Int) -> Void
  ) {
    guard let shown = unsafe aom_codec_get_preview_frame(context)?.pointee else { return }
    unsafe body(0, UnsafePointer(shown.planes.0!), Int(shown.stride.0), 1)
    unsafe body(1, UnsafePointer(shown.planes.1!), Int(shown.stride.1), 1)
    unsafe body(2, UnsafePointer(shown.planes.2!), Int(shown.stride.2), 1)
  }

  private func takeOutput() throws(VideoEncoderError) -> CodedPicture {
    var output = CodedPicture(data: [], isKeyFrame: false)
    var position = unsafe aom_codec_iter_t(bitPattern: 0)
    while let packet = unsafe aom_codec_get_cx_data(context, &position) {
      guard unsafe packet.pointee.kind == AOM_CODEC_CX_FRAME_PKT else { continue }
      let frame = unsafe packet.pointee.data.frame
      // libaom's until the next call; copied here.
      unsafe append(
        UnsafeBufferPointer(start: frame.buf.assumingMemoryBound(to: UInt8.self), count: frame.sz).span,
        to: &output.data)
      unsafe output.isKeyFrame = frame.flags & UInt32(AOM_FRAME_IS_KEY) != 0
    }
    guard !output.data.isEmpty else { throw .library(status: 0, message: "libaom gave no frame") }
    return output
  }

  private func append(_ units: Span<UInt8>, to data: inout [UInt8]) {
    data.reserveCapacity(data.count + units.count)
    var offset = 0
    while let unit = AV1OBU(in: units, at: offset) {
      if unit.header.kind != .temporalDelimiter {
        for index in offset..<unit.payload.upperBound { data.append(units[index]) }
      }
      offset = unit.payload.upperBound
    }
  }

  private func set(_ control: aome_enc_control_id, _ value: Int) throws(VideoEncoderError) {
    try check(unsafe caom_control_int(context, Int32(control.rawValue), Int32(value)))
  }

  private func check(_ status: aom_codec_err_t) throws(VideoEncoderError) {
    guard status != AOM_CODEC_OK else { return }
    let detail = unsafe aom_codec_error_detail(context) ?? aom_codec_err_to_string(status)
    throw .library(status: Int(status.rawValue), message: unsafe detail.map { unsafe String(cString: $0) } ?? "")
  }
}
