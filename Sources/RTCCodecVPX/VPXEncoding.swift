import CVPX
import RTCMedia

/// The owner of one libvpx encoder, and what those of VP8 and VP9 have in common.
@safe
final class VPXEncoding {
  struct Output {
    var data: [UInt8]
    var isKeyFrame: Bool
    /// VP8: 0…127, VP9: 0…255.
    var quantizerIndex: Int
  }

  let context: UnsafeMutablePointer<vpx_codec_ctx_t>
  private var config: vpx_codec_enc_cfg_t
  private var image = unsafe vpx_image_t()
  private let format: vpx_img_fmt_t
  /// In macroblocks.
  let columns: Int
  /// In macroblocks.
  let rows: Int
  private var frames: vpx_codec_pts_t = 0

  /// - Parameters:
  ///   - interface: which codec; a constant of the library.
  ///   - threads: decided by the picture's macroblocks.
  ///   - adjust: sets what one codec alone needs.
  init(
    _ interface: OpaquePointer, _ settings: VideoEncoderSettings, threads: (_ macroblocks: Int) -> Int,
    adjust: (inout vpx_codec_enc_cfg_t) -> Void = { _ in }
  ) throws(VideoEncoderError) {
    let size = settings.size
    guard (1...16383).contains(size.width), (1...16383).contains(size.height) else {
      throw .unsupportedSize(size)
    }
    columns = (size.width + 15) / 16
    rows = (size.height + 15) / 16
    let isVP9 = unsafe interface == vpx_codec_vp9_cx()
    format = isVP9 && settings.chroma == .full ? VPX_IMG_FMT_I444 : VPX_IMG_FMT_I420
    unsafe config = vpx_codec_enc_cfg_t()
    unsafe vpx_codec_enc_config_default(interface, &config, 0)
    unsafe config.g_w = UInt32(size.width)
    unsafe config.g_h = UInt32(size.height)
    unsafe config.g_threads = UInt32(threads(columns * rows))
    unsafe config.g_timebase = vpx_rational_t(num: 1, den: 30)
    unsafe config.g_lag_in_frames = 0
    unsafe config.g_error_resilient = 0
    // The quantiser is set for each frame, so libvpx's own rate control has nothing to decide and must drop nothing.
    unsafe config.rc_end_usage = VPX_VBR
    unsafe config.rc_target_bitrate = 50_000
    unsafe config.rc_dropframe_thresh = 0
    unsafe config.rc_min_quantizer = 20
    unsafe config.rc_max_quantizer = 20
    unsafe config.kf_mode = VPX_KF_DISABLED
    unsafe adjust(&config)
    unsafe context = UnsafeMutablePointer.allocate(capacity: 1)
    unsafe context.initialize(to: vpx_codec_ctx_t())
    try check(unsafe cvpx_encoder_init(context, interface, &config))
  }

  deinit {
    unsafe vpx_codec_destroy(context)
    unsafe context.deinitialize(count: 1)
    unsafe context.deallocate()
  }

  /// The threads it was made with.
  var threads: Int { unsafe Int(config.g_threads) }

  func set(_ control: vp8e_enc_control_id, _ value: Int32) throws(VideoEncoderError) {
    try check(unsafe cvpx_control_int(context, Int32(control.rawValue), value))
  }

  func check(_ status: vpx_codec_err_t) throws(VideoEncoderError) {
    guard status != VPX_CODEC_OK else { return }
    let detail = unsafe vpx_codec_error_detail(context) ?? vpx_codec_err_to_string(status)
    throw .library(status: Int(status.rawValue), message: unsafe detail.map { unsafe String(cString: $0) } ?? "")
  }

  /// The quantiser of the frames that come, 0…63.
  func setQuantizer(_ quantizer: Int) throws(VideoEncoderError) {
    guard unsafe config.rc_min_quantizer != UInt32(quantizer) else { return }
    unsafe config.rc_min_quantizer = UInt32(quantizer)
    unsafe config.rc_max_quantizer = UInt32(quantizer)
    try check(unsafe vpx_codec_enc_config_set(context, &config))
  }

  /// - Parameter active: one byte a macroblock, 0 for those that are not coded; nil: all are.
  func setActive(_ active: [UInt8]?) throws(VideoEncoderError) {
    guard let active else {
      var map = unsafe vpx_active_map_t(active_map: nil, rows: UInt32(rows), cols: UInt32(columns))
      return try check(unsafe cvpx_set_active_map(context, &map))
    }
    try check(
      unsafe active.withUnsafeBufferPointer { bytes in
        // Copied by libvpx before it returns.
        var map = unsafe vpx_active_map_t(
          active_map: UnsafeMutablePointer(mutating: bytes.baseAddress!), rows: UInt32(rows), cols: UInt32(columns))
        return unsafe cvpx_set_active_map(context, &map)
      })
  }

  /// Codes the planes of a picture. Only the last frame serves as reference: half the search, and nothing stale can show.
  /// - Parameter flags: what a codec wants besides.
  @unsafe
  func encode(_ planes: [VPXPlane], keyFrame: Bool, flags: Int32 = 0) throws(VideoEncoderError) -> Output {
    unsafe wrap(planes)
    let flags =
      flags
      | (keyFrame
        ? VPX_EFLAG_FORCE_KF
        : VP8_EFLAG_NO_REF_GF | VP8_EFLAG_NO_REF_ARF | VP8_EFLAG_NO_UPD_GF | VP8_EFLAG_NO_UPD_ARF)
    try check(
      unsafe vpx_codec_encode(context, &image, frames, 1, vpx_enc_frame_flags_t(flags), UInt(VPX_DL_REALTIME)))
    frames += 1
    return try takeOutput()
  }

  /// The picture as the viewers' decoders have it after the last frame, for as long as `body` runs; nil before the
  /// first frame.
  @unsafe
  func withReconstruction<Result>(_ body: (_ planes: [VPXPlane]) -> Result) -> Result? {
    guard let shown = unsafe vpx_codec_get_preview_frame(context)?.pointee else { return nil }
    return unsafe body([
      VPXPlane(base: shown.planes.0!, stride: Int(shown.stride.0)),
      VPXPlane(base: shown.planes.1!, stride: Int(shown.stride.1)),
      VPXPlane(base: shown.planes.2!, stride: Int(shown.stride.2)),
    ])
  }

  private func wrap(_ planes: [VPXPlane]) {
    // libvpx only reads from the image it is given, though its type does not say so.
    let (y, u, v) = unsafe (planes[0], planes[1], planes[2])
    unsafe vpx_img_wrap(&image, format, config.g_w, config.g_h, 1, UnsafeMutablePointer(mutating: y.base))
    unsafe image.planes.0 = UnsafeMutablePointer(mutating: y.base)
    unsafe image.planes.1 = UnsafeMutablePointer(mutating: u.base)
    unsafe image.planes.2 = UnsafeMutablePointer(mutating: v.base)
    unsafe image.stride.0 = Int32(y.stride)
    unsafe image.stride.1 = Int32(u.stride)
    unsafe image.stride.2 = Int32(v.stride)
    unsafe image.cs = VPX_CS_BT_601
    unsafe image.range = VPX_CR_STUDIO_RANGE
  }

  private func takeOutput() throws(VideoEncoderError) -> Output {
    var output = Output(data: [], isKeyFrame: false, quantizerIndex: 0)
    var position = unsafe vpx_codec_iter_t(bitPattern: 0)
    while let packet = unsafe vpx_codec_get_cx_data(context, &position) {
      guard unsafe packet.pointee.kind == VPX_CODEC_CX_FRAME_PKT else { continue }
      let frame = unsafe packet.pointee.data.frame
      unsafe output.data.append(contentsOf: UnsafeRawBufferPointer(start: frame.buf, count: frame.sz))
      unsafe output.isKeyFrame = frame.flags & UInt32(VPX_FRAME_IS_KEY) != 0
    }
    guard !output.data.isEmpty else { throw .library(status: 0, message: "libvpx gave no frame") }
    output.quantizerIndex = Int(unsafe cvpx_last_quantizer(context))
    return output
  }
}
