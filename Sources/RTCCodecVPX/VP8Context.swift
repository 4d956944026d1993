import CVPX
import RTCMedia

/// The owner of one libvpx VP8 encoder: every frame is coded with the quantiser and the macroblocks it is told.
@safe
final class VP8Context {
  struct Output {
    var data: [UInt8]
    var isKeyFrame: Bool
    /// 0…127.
    var quantizerIndex: Int
  }

  /// Samples of one colour component, line by line.
  @unsafe
  struct Plane {
    let base: UnsafePointer<UInt8>
    let stride: Int

    init(base: UnsafePointer<UInt8>, stride: Int) {
      unsafe self.base = base
      unsafe self.stride = stride
    }
  }

  /// Which macroblocks the loop filter may touch.
  enum LoopFilter {
    /// Coded ones and the edges of their neighbours.
    case coded
    /// None, so that what is not coded stays bit by bit as it was.
    case off
  }

  /// How hard libvpx searches for what moved.
  enum Speed {
    /// Finds what moved about as far as in the frame before, and up to some 48 pixels more.
    case usual
    /// Four to six times slower for each macroblock. Finds what moved by up to 180 pixels (a page of text that
    /// scrolled by 90 takes 12 kB, not 84) and gives a tenth fewer bytes and 1 dB more for new text.
    case thorough
  }

  private let context: UnsafeMutablePointer<vpx_codec_ctx_t>
  private var config: vpx_codec_enc_cfg_t
  private var image = unsafe vpx_image_t()
  private let segments: UnsafeMutableBufferPointer<UInt8>
  private let columns: Int
  private let rows: Int
  private var frames: vpx_codec_pts_t = 0
  /// Made when it is first needed.
  private var reference: ReferencePicture?
  private var speed = Speed.usual

  init(settings: VideoEncoderSettings) throws(VideoEncoderError) {
    let size = settings.size
    guard (1...16383).contains(size.width), (1...16383).contains(size.height) else {
      throw .unsupportedSize(size)
    }
    columns = (size.width + 15) / 16
    rows = (size.height + 15) / 16
    unsafe config = vpx_codec_enc_cfg_t()
    unsafe vpx_codec_enc_config_default(vpx_codec_vp8_cx(), &config, 0)
    // A second thread shortens a whole 1080p frame by a third but makes every frame, the smallest too, cost half as
    // much again, as it waits by spinning, and on a busy machine five times as much. Up to 1080p one is fast enough
    // for films.
    let threads = columns * rows >= 8704 ? max(1, min(settings.threads, 4)) : 1
    unsafe config.g_w = UInt32(size.width)
    unsafe config.g_h = UInt32(size.height)
    unsafe config.g_threads = UInt32(threads)
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
    unsafe segments = UnsafeMutableBufferPointer.allocate(capacity: columns * rows)
    unsafe segments.initialize(repeating: 0)
    unsafe context = UnsafeMutablePointer.allocate(capacity: 1)
    unsafe context.initialize(to: vpx_codec_ctx_t())
    try check(unsafe cvpx_vp8_encoder_init(context, &config))
    try configure(settings, threads: threads)
  }

  deinit {
    unsafe vpx_codec_destroy(context)
    unsafe context.deinitialize(count: 1)
    unsafe context.deallocate()
    unsafe segments.deallocate()
  }

  /// Measured on a 1080p page that scrolls: speed 6 codes it as fast as 8 to 12 with a fifth to a third fewer bytes.
  private func configure(_ settings: VideoEncoderSettings, threads: Int) throws(VideoEncoderError) {
    try set(speed)
    try set(VP8E_SET_SCREEN_CONTENT_MODE, settings.contentHint == .motion ? 0 : 1)
    try set(VP8E_SET_STATIC_THRESHOLD, settings.contentHint == .motion ? 300 : 0)
    try set(VP8E_SET_NOISE_SENSITIVITY, 0)
    try set(VP8E_SET_TOKEN_PARTITIONS, threads > 1 ? 1 : 0)
  }

  private func set(_ new: Speed) throws(VideoEncoderError) {
    speed = new
    let isHuge = columns * rows > 14_400
    try set(VP8E_SET_CPUUSED, new == .usual ? (isHuge ? -10 : -6) : (isHuge ? -5 : -2))
  }

  /// Codes the planes of a picture (I420, of the settings' size).
  ///
  /// - Parameters:
  ///   - quantizer: 0 (finest) … 63.
  ///   - active: one byte a macroblock; 0 keeps what the last frame showed. Ignored for key frames.
  @unsafe
  func encode(
    planes: (y: UnsafePointer<UInt8>, u: UnsafePointer<UInt8>, v: UnsafePointer<UInt8>),
    strides: (y: Int, u: Int, v: Int), quantizer: Int, active: [UInt8], keyFrame: Bool, filter: LoopFilter,
    speed: Speed
  ) throws(VideoEncoderError) -> Output {
    unsafe wrap(planes, strides)
    if speed != self.speed { try set(speed) }
    if unsafe config.rc_min_quantizer != UInt32(quantizer) {
      unsafe config.rc_min_quantizer = UInt32(quantizer)
      unsafe config.rc_max_quantizer = UInt32(quantizer)
      try check(unsafe vpx_codec_enc_config_set(context, &config))
    }
    try setMaps(active: active, keyFrame: keyFrame, filter: filter)
    // Only the last frame serves as reference: half the search, and nothing stale can show. The stream's probabilities
    // stay those of the standard, which motion frames count on.
    let flags =
      VP8_EFLAG_NO_UPD_ENTROPY
      | (keyFrame
        ? VPX_EFLAG_FORCE_KF
        : VP8_EFLAG_NO_REF_GF | VP8_EFLAG_NO_REF_ARF | VP8_EFLAG_NO_UPD_GF | VP8_EFLAG_NO_UPD_ARF)
    try check(
      unsafe vpx_codec_encode(context, &image, frames, 1, vpx_enc_frame_flags_t(flags), UInt(VPX_DL_REALTIME)))
    frames += 1
    return try takeOutput()
  }

  /// Makes a frame in which macroblocks move, and codes those that are new; the next is predicted from it.
  ///
  /// - Parameters:
  ///   - field: of this picture's macroblocks.
  ///   - active: one byte a macroblock; 0 shows what was moved there.
  ///   - source: of the picture.
  ///   - quantizer: 0…63.
  @unsafe
  func move(
    _ field: MotionField, active: [UInt8], source: [Plane], quantizer: Int
  ) throws(VideoEncoderError) -> Output {
    precondition(field.columns == columns && field.rows == rows && active.count == columns * rows)
    let next = reference ?? ReferencePicture(columns: columns, rows: rows)
    reference = next
    // The planes of libvpx's frames are of whole macroblocks, though it tells the picture's size.
    guard unsafe withReconstruction({ unsafe next.take(field, from: $0) }) != nil else {
      throw .library(status: 0, message: "libvpx has no frame to move")
    }
    let index = QuantizerSteps.index(ofQuantizer: quantizer)
    let picture = unsafe SourcePicture(
      size: PixelSize(width: Int(config.g_w), height: Int(config.g_h)), planes: source)
    let coder = MacroblockCoder(picture, into: next, steps: QuantizerSteps(index: index))
    var coded: [Int: MacroblockCoder.Coded] = [:]
    var field = field
    for place in active.indices where active[place] != 0 {
      let macroblock = coder.code(row: place / columns, column: place % columns)
      coded[place] = macroblock
      if macroblock.intra != nil { field.setIntra(place / columns, place % columns) }
    }
    try setReference(next)
    return Output(
      data: MotionFrame.bytes(field, coded: coded, quantizerIndex: index), isKeyFrame: false, quantizerIndex: index)
  }

  private func setReference(_ next: ReferencePicture) throws(VideoEncoderError) {
    var last = unsafe vpx_image_t()
    let (y, u, v) = unsafe (next.plane(0), next.plane(1), next.plane(2))
    unsafe vpx_img_wrap(&last, VPX_IMG_FMT_I420, UInt32(columns * 16), UInt32(rows * 16), 1, y.base)
    unsafe (last.planes.0, last.planes.1, last.planes.2) = (y.base, u.base, v.base)
    unsafe (last.stride.0, last.stride.1, last.stride.2) = (Int32(y.stride), Int32(u.stride), Int32(v.stride))
    // Copied by libvpx before it returns.
    try check(unsafe cvpx_set_last_frame(context, last))
  }

  /// The picture as the viewers' decoders have it after the last frame, for as long as `body` runs; nil before the
  /// first frame.
  @unsafe
  func withReconstruction<Result>(_ body: (_ planes: [Plane]) -> Result) -> Result? {
    guard let shown = unsafe vpx_codec_get_preview_frame(context)?.pointee else { return nil }
    return unsafe body([
      Plane(base: shown.planes.0!, stride: Int(shown.stride.0)),
      Plane(base: shown.planes.1!, stride: Int(shown.stride.1)),
      Plane(base: shown.planes.2!, stride: Int(shown.stride.2)),
    ])
  }

  private func wrap(
    _ planes: (y: UnsafePointer<UInt8>, u: UnsafePointer<UInt8>, v: UnsafePointer<UInt8>),
    _ strides: (y: Int, u: Int, v: Int)
  ) {
    // libvpx only reads from the image it is given, though its type does not say so.
    let y = unsafe UnsafeMutablePointer(mutating: planes.y)
    unsafe vpx_img_wrap(&image, VPX_IMG_FMT_I420, config.g_w, config.g_h, 1, y)
    unsafe image.planes.0 = y
    unsafe image.planes.1 = UnsafeMutablePointer(mutating: planes.u)
    unsafe image.planes.2 = UnsafeMutablePointer(mutating: planes.v)
    unsafe image.stride.0 = Int32(strides.y)
    unsafe image.stride.1 = Int32(strides.u)
    unsafe image.stride.2 = Int32(strides.v)
  }

  private func setMaps(active: [UInt8], keyFrame: Bool, filter: LoopFilter) throws(VideoEncoderError) {
    let all = keyFrame || !active.contains(0)
    if all {
      var map = unsafe vpx_active_map_t(active_map: nil, rows: UInt32(rows), cols: UInt32(columns))
      try check(unsafe cvpx_set_active_map(context, &map))
    } else {
      try check(
        unsafe active.withUnsafeBufferPointer { bytes in
          // Copied by libvpx before it returns.
          var map = unsafe vpx_active_map_t(
            active_map: UnsafeMutablePointer(mutating: bytes.baseAddress!), rows: UInt32(rows), cols: UInt32(columns))
          return unsafe cvpx_set_active_map(context, &map)
        })
    }
    // A macroblock that is not coded would still be filtered at its edges, frame after frame. A segment of its own
    // with the filter turned down to nothing keeps it as it was.
    var roi = unsafe vpx_roi_map_t()
    unsafe roi.rows = UInt32(rows)
    unsafe roi.cols = UInt32(columns)
    switch filter {
    case .off:
      unsafe segments.update(repeating: 0)
      unsafe roi.roi_map = segments.baseAddress
      unsafe roi.delta_lf.0 = -63
    case .coded where !all:
      for index in active.indices { unsafe segments[index] = 1 - active[index] }
      unsafe roi.roi_map = segments.baseAddress
      unsafe roi.delta_lf.1 = -63
    case .coded: break
    }
    try check(unsafe cvpx_set_roi_map(context, &roi))
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

  private func set(_ control: vp8e_enc_control_id, _ value: Int32) throws(VideoEncoderError) {
    try check(unsafe cvpx_control_int(context, Int32(control.rawValue), value))
  }

  private func check(_ status: vpx_codec_err_t) throws(VideoEncoderError) {
    guard status != VPX_CODEC_OK else { return }
    let detail = unsafe vpx_codec_error_detail(context) ?? vpx_codec_err_to_string(status)
    throw .library(status: Int(status.rawValue), message: unsafe detail.map { unsafe String(cString: $0) } ?? "")
  }
}
