import CVPX
import RTCMedia

/// VP9 by libvpx: every frame is coded with the quantiser and the macroblocks it is told, and is predicted from the last
/// frame of the lowest layer alone.
@safe
final class VP9Context {
  /// libvpx's speeds. Of what scrolls at 2.5 Mbit/s, 8 shows 45.5 dB of luma and 9 43.2; 7 takes about twice the time of 9.
  enum Speed: Int32 {
    case thorough = 7
    case usual = 8
    case fast = 9
  }

  private let encoding: VPXEncoding
  private var speed = Speed.usual
  private var filters = true

  init(settings: VideoEncoderSettings) throws(VideoEncoderError) {
    encoding = try unsafe VPXEncoding(
      vpx_codec_vp9_cx(), settings, threads: { $0 >= 3600 ? max(1, min(settings.threads, 4)) : 1 },
      adjust: { config in
        unsafe config.g_profile = settings.chroma == .full ? 1 : 0
        // Else frames take movements and probabilities from those before them, which a viewer may have done without.
        unsafe config.g_error_resilient = UInt32(settings.scalabilityMode == .l1t2 ? VPX_ERROR_RESILIENT_DEFAULT : 0)
        // Would be one every 128 frames all the same.
        unsafe config.kf_max_dist = UInt32(Int32.max)
      })
    try configure(settings)
  }

  private func configure(_ settings: VideoEncoderSettings) throws(VideoEncoderError) {
    try encoding.set(VP8E_SET_CPUUSED, speed.rawValue)
    let content = settings.contentHint == .motion ? VP9E_CONTENT_DEFAULT : VP9E_CONTENT_SCREEN
    try encoding.set(VP9E_SET_TUNE_CONTENT, Int32(content.rawValue))
    try encoding.set(VP9E_SET_AQ_MODE, 0)
    try encoding.set(VP9E_SET_NOISE_SENSITIVITY, 0)
    try encoding.set(VP9E_SET_FRAME_PARALLEL_DECODING, 0)
    // Columns of tiles are coded, and decoded, at the same time.
    try encoding.set(VP9E_SET_TILE_COLUMNS, encoding.threads > 2 ? 2 : encoding.threads > 1 ? 1 : 0)
    try encoding.set(VP9E_SET_COLOR_SPACE, Int32(VPX_CS_BT_601.rawValue))
    try encoding.set(VP9E_SET_COLOR_RANGE, Int32(VPX_CR_STUDIO_RANGE.rawValue))
  }

  /// Codes the planes of a picture (I420 or I444, as the settings say, and of their size).
  ///
  /// - Parameters:
  ///   - quantizer: 0 (finest, without loss) … 63.
  ///   - active: one byte a macroblock; 0 keeps what the last frame showed, unless it is coded in one block with
  ///     others. Ignored for key frames.
  ///   - filters: the loop filter runs at the edges of what is coded.
  ///   - isUpper: no frame after it is to need it.
  @unsafe
  func encode(
    planes: [VPXPlane], quantizer: Int, active: [UInt8], keyFrame: Bool, filters: Bool, speed: Speed,
    isUpper: Bool
  ) throws(VideoEncoderError) -> VPXEncoding.Output {
    if speed != self.speed {
      try encoding.set(VP8E_SET_CPUUSED, speed.rawValue)
      self.speed = speed
    }
    if filters != self.filters {
      try encoding.set(VP9E_SET_DISABLE_LOOPFILTER, filters ? 0 : 2)
      self.filters = filters
    }
    try encoding.setQuantizer(quantizer)
    try encoding.setActive(keyFrame || !active.contains(0) ? nil : active)
    let flags = isUpper && !keyFrame ? VP8_EFLAG_NO_UPD_LAST | VP8_EFLAG_NO_UPD_ENTROPY : 0
    return try unsafe encoding.encode(planes, keyFrame: keyFrame, flags: flags)
  }

  /// The picture as the viewers' decoders have it after the last frame, for as long as `body` runs; nil before the
  /// first frame.
  @unsafe
  func withReconstruction<Result>(_ body: (_ planes: [VPXPlane]) -> Result) -> Result? {
    unsafe encoding.withReconstruction(body)
  }
}
