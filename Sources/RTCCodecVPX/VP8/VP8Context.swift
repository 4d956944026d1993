import CVPX
import RTCMedia

/// VP8 by libvpx: every frame is coded with the quantiser and the macroblocks it is told.
@safe
final class VP8Context {
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

  /// The age of `reference`.
  private enum ReferenceState {
    /// Older than libvpx's last frame, or not made yet.
    case old
    /// libvpx's last frame.
    case same
    /// The last frame of the stream, which libvpx has not received yet.
    case newer
  }

  private let encoding: VPXEncoding
  private let segments: UnsafeMutableBufferPointer<UInt8>
  private let size: PixelSize
  private let columns: Int
  private let rows: Int
  /// Made when it is first needed.
  private var reference: ReferencePicture?
  private var referenceState = ReferenceState.old
  private var speed = Speed.usual

  init(settings: VideoEncoderSettings) throws(VideoEncoderError) {
    // A second thread shortens a whole 1080p frame by a third but makes every frame, the smallest too, cost half as
    // much again, as it waits by spinning, and on a busy machine five times as much. Up to 1080p one is fast enough
    // for films.
    encoding = try unsafe VPXEncoding(vpx_codec_vp8_cx(), settings) {
      $0 >= 8704 ? max(1, min(settings.threads, 4)) : 1
    }
    (size, columns, rows) = (settings.size, encoding.columns, encoding.rows)
    unsafe segments = UnsafeMutableBufferPointer.allocate(capacity: columns * rows)
    unsafe segments.initialize(repeating: 0)
    try configure(settings)
  }

  deinit { unsafe segments.deallocate() }

  /// Measured on a 1080p page that scrolls: speed 6 codes it as fast as 8 to 12 with a fifth to a third fewer bytes.
  private func configure(_ settings: VideoEncoderSettings) throws(VideoEncoderError) {
    try set(speed)
    try encoding.set(VP8E_SET_SCREEN_CONTENT_MODE, settings.contentHint == .motion ? 0 : 1)
    try encoding.set(VP8E_SET_STATIC_THRESHOLD, settings.contentHint == .motion ? 300 : 0)
    try encoding.set(VP8E_SET_NOISE_SENSITIVITY, 0)
    try encoding.set(VP8E_SET_TOKEN_PARTITIONS, encoding.threads > 1 ? 1 : 0)
  }

  private func set(_ new: Speed) throws(VideoEncoderError) {
    speed = new
    let isHuge = columns * rows > 14_400
    try encoding.set(VP8E_SET_CPUUSED, new == .usual ? (isHuge ? -10 : -6) : (isHuge ? -5 : -2))
  }

  /// Codes the planes of a picture (I420, of the settings' size).
  ///
  /// - Parameters:
  ///   - quantizer: 0 (finest) … 63.
  ///   - active: one byte a macroblock; 0 keeps what the last frame showed. Ignored for key frames.
  @unsafe
  func encode(
    planes: [VPXPlane], quantizer: Int, active: [UInt8], keyFrame: Bool, filter: LoopFilter, speed: Speed
  ) throws(VideoEncoderError) -> VPXEncoding.Output {
    if speed != self.speed { try set(speed) }
    try encoding.setQuantizer(quantizer)
    try setMaps(active: active, keyFrame: keyFrame, filter: filter)
    if !keyFrame { try passReference() }
    referenceState = .old
    // The stream's probabilities stay those of the standard, which motion frames count on.
    return try unsafe encoding.encode(planes, keyFrame: keyFrame, flags: VP8_EFLAG_NO_UPD_ENTROPY)
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
    _ field: MotionField, active: [UInt8], source: [VPXPlane], quantizer: Int
  ) throws(VideoEncoderError) -> VPXEncoding.Output {
    precondition(field.columns == columns && field.rows == rows && active.count == columns * rows)
    if referenceState != .old, let reference, reference.move(field) {
      referenceState = .newer
    } else {
      try passReference()
      try unsafe takeReference(field)
    }
    return unsafe code(field, active: active, source: source, quantizer: quantizer)
  }

  /// Makes a frame in which nothing moves and few macroblocks are coded; the next is predicted from it.
  ///
  /// libvpx visits all macroblocks, also those that it leaves alone: 1.8 ms for each frame of 1280x720. Here the time
  /// grows with the macroblocks that are coded. libvpx receives the picture before it codes a frame again.
  ///
  /// - Parameters:
  ///   - active: one byte a macroblock; 0 keeps what the last frame showed.
  ///   - source: the planes of the picture.
  ///   - quantizer: 0…63.
  @unsafe
  func encodeFew(
    active: [UInt8], source: [VPXPlane], quantizer: Int
  ) throws(VideoEncoderError) -> VPXEncoding.Output {
    precondition(active.count == columns * rows)
    let still = MotionField(columns: columns, rows: rows)
    if active.contains(1), referenceState == .old { try unsafe takeReference(still) }
    return unsafe code(still, active: active, source: source, quantizer: quantizer)
  }

  /// Makes `reference` what `field` makes of the last frame.
  @unsafe
  private func takeReference(_ field: MotionField) throws(VideoEncoderError) {
    let next = reference ?? ReferencePicture(columns: columns, rows: rows)
    reference = next
    // The planes of libvpx's frames are of whole macroblocks, though it tells the picture's size.
    let isSame = referenceState == .same
    guard unsafe encoding.withReconstruction({ unsafe next.take(field, from: $0, isSame: isSame) }) != nil else {
      throw .library(status: 0, message: "libvpx has no frame to move")
    }
    referenceState = .newer
  }

  /// Codes macroblocks of `source` into `reference`, which is the prediction from the last frame by `field`.
  @unsafe
  private func code(
    _ field: MotionField, active: [UInt8], source: [VPXPlane], quantizer: Int
  ) -> VPXEncoding.Output {
    let index = QuantizerSteps.index(ofQuantizer: quantizer)
    var coded = CodedMacroblocks(count: active.count)
    var field = field
    if let reference, active.contains(1) {
      let picture = unsafe SourcePicture(size: size, planes: source)
      let coder = MacroblockCoder(picture, into: reference, steps: QuantizerSteps(index: index))
      for place in active.indices where active[place] != 0 {
        let macroblock = coder.code(row: place / columns, column: place % columns)
        coded.append(place, macroblock)
        if macroblock.intra != nil { field.setIntra(place / columns, place % columns) }
      }
      referenceState = .newer
    }
    return VPXEncoding.Output(
      data: MotionFrame.bytes(field, coded: coded, quantizerIndex: index), isKeyFrame: false, quantizerIndex: index)
  }

  /// Makes `reference` libvpx's last frame, if it is newer.
  private func passReference() throws(VideoEncoderError) {
    guard referenceState == .newer, let reference else { return }
    // Not the same if libvpx refuses it.
    referenceState = .old
    try setReference(reference)
    referenceState = .same
  }

  private func setReference(_ next: ReferencePicture) throws(VideoEncoderError) {
    var last = unsafe vpx_image_t()
    let (y, u, v) = unsafe (next.plane(0), next.plane(1), next.plane(2))
    unsafe vpx_img_wrap(&last, VPX_IMG_FMT_I420, UInt32(columns * 16), UInt32(rows * 16), 1, y.base)
    unsafe (last.planes.0, last.planes.1, last.planes.2) = (y.base, u.base, v.base)
    unsafe (last.stride.0, last.stride.1, last.stride.2) = (Int32(y.stride), Int32(u.stride), Int32(v.stride))
    // Copied by libvpx before it returns.
    try encoding.check(unsafe cvpx_set_last_frame(encoding.context, last))
  }

  /// The picture as the viewers' decoders have it after the last frame, for as long as `body` runs; nil before the
  /// first frame.
  @unsafe
  func withReconstruction<Result>(_ body: (_ planes: [VPXPlane]) -> Result) -> Result? {
    guard referenceState == .newer, let reference else { return unsafe encoding.withReconstruction(body) }
    return unsafe body(reference.planes)
  }

  private func setMaps(active: [UInt8], keyFrame: Bool, filter: LoopFilter) throws(VideoEncoderError) {
    let all = keyFrame || !active.contains(0)
    try encoding.setActive(all ? nil : active)
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
    try encoding.check(unsafe cvpx_set_roi_map(encoding.context, &roi))
  }
}
