import CVPX
package import RTCMedia
package import RTCVideoCoding

/// The owner of one libvpx encoder of VP9, profile 0 (4:2:0) or 1 (4:4:4). Every frame is coded with the quantiser and the
/// blocks that it is told, and is predicted from the last frame of the lowest layer alone.
///
/// Kept blocks are given as viewers have them, and are left out of libvpx's active map too, which saves their time. The
/// map alone does not keep blocks that libvpx codes in one superblock (64×64) with active ones.
@safe
package final class VP9Context: BlockCoder {
  /// libvpx's speeds. Of what scrolls at 2.5 Mbit/s, 8 shows 43.5 dB of luma in 27 ms a picture, and 9 shows 43.2 dB in
  /// 15 ms.
  private enum Speed: Int32 {
    case thorough = 7
    case usual = 8
    case fast = 9
  }

  /// The number of blocks of a picture from which on its large changes are coded fast.
  private static let largePicture = 4000
  /// The number of blocks up to which a change is coded thoroughly.
  private static let smallChange = 400

  private let format: CodedFormat
  private let encoding: VPXEncoding
  private var speed = Speed.usual
  private var filters = true

  /// Whether the loop filter runs, which also changes blocks that are not coded. Screens need none.
  package var hasFilters: Bool { format.contentHint == .motion }

  /// Creates a context; the matrix is always BT.601. Throws `unsupportedSize` for sides outside 1…16,383 pixels.
  package init(_ settings: VideoEncoderSettings, _ matrix: ColorSpace.Matrix) throws(VideoEncoderError) {
    format = CodedFormat(settings, .bt601)
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

  /// Whether the context can go on with these settings.
  package func suits(_ settings: VideoEncoderSettings, _ matrix: ColorSpace.Matrix) -> Bool {
    format == CodedFormat(settings, .bt601)
  }

  /// Codes a picture of the format's size and sampling.
  ///
  /// - Parameters:
  ///   - quantizer: 1 (finest) … 63.
  ///   - kept: the blocks that keep what the last frame showed. Ignored for key frames.
  ///   - movement: where the others come from.
  ///   - isUpper: no later frame needs this one.
  package func encode(
    _ picture: InputPicture, quantizer: Int, keyFrame: Bool, kept: [Bool], movement: BlockMovement, isUpper: Bool
  ) throws(VideoEncoderError) -> CodedPicture {
    precondition(picture.size == format.size && picture.format == (format.chroma == .full ? .i444 : .i420))
    let new = self.speed(movement, keyFrame: keyFrame, kept)
    if new != speed {
      try encoding.set(VP8E_SET_CPUUSED, new.rawValue)
      speed = new
    }
    if filters != hasFilters {
      try encoding.set(VP9E_SET_DISABLE_LOOPFILTER, hasFilters ? 0 : 2)
      filters = hasFilters
    }
    try encoding.setQuantizer(quantizer)
    try encoding.setActive(keyFrame || !kept.contains(true) ? nil : kept.map { $0 ? 0 : 1 })
    let flags = isUpper && !keyFrame ? VP8_EFLAG_NO_UPD_LAST | VP8_EFLAG_NO_UPD_ENTROPY : 0
    // `picture` holds the planes for as long as this call runs; libvpx copies what it keeps.
    let output = try unsafe encoding.encode(
      VPXPlane.planes(of: .inputPicture, picture), keyFrame: keyFrame, flags: flags)
    return CodedPicture(data: output.data, isKeyFrame: output.isKeyFrame)
  }

  private func speed(_ movement: BlockMovement, keyFrame: Bool, _ kept: [Bool]) -> Speed {
    if keyFrame { return .fast }
    if movement == .none { return .thorough }
    let active = kept.count { !$0 }
    guard active > Self.smallChange, kept.count >= Self.largePicture else { return .thorough }
    return .fast
  }

  /// Calls `body` with each plane as the viewers' decoders have it after the last frame: its index, first sample, stride,
  /// and bytes from one sample to the next. Valid within the call alone.
  @unsafe
  package func withReconstruction(
    _ body: (_ plane: Int, _ base: UnsafePointer<UInt8>, _ stride: Int, _ step: Int) -> Void
  ) {
    _ = unsafe encoding.withReconstruction { planes in
      for index in 0..<3 { unsafe body(index, planes[index].base, planes[index].stride, 1) }
    }
  }
}
