import CYUV
package import RTCMedia

/// Converts captured frames to an encoder's input picture (I420, I444 or NV12; BT.601, limited range, what browsers take
/// every VP8 picture for), one damaged rectangle at a time; scales when the sizes differ.
///
/// Packed RGB, and planes of limited range, of the right size go there in one pass, I420 and I444 of any size too where the
/// picture is I420. Everything else passes through scratch memory and is counted in `extraPasses`. Used by one thread at a
/// time.
package struct FrameConverter: ~Copyable {
  /// Frames of which pixels were written into an input picture, converted or copied.
  package private(set) var framesConverted: UInt64 = 0
  /// How often pixels went through memory in between, in frames.
  package private(set) var extraPasses: UInt64 = 0

  private var unpacked: PackedScratch?
  private var scaled: PackedScratch?

  /// Without memory; it is allocated when a picture first needs it.
  package init() {}

  /// Converts `rects` of `frame` (nil = all of it) to where they lie in `picture`.
  ///
  /// - Returns: the rectangles of `picture` that were written, nil for all of it.
  package mutating func convert(
    _ frame: VideoFrame, rects: [PixelRect]?, into picture: InputPicture
  ) throws(ConversionError) -> [PixelRect]? {
    let whole = [PixelRect(frame.size)]
    let sources = (rects ?? whole).map { $0.aligned(to: 2, within: frame.size) }.filter { !$0.isEmpty }
    guard !sources.isEmpty else { return [] }
    framesConverted += 1
    picture.beginAccess()
    defer { picture.endAccess() }
    if frame.size == picture.size, try convertDirectly(frame, sources, into: picture) {
      return rects == nil ? nil : sources
    }
    if scaleDirectly(frame, into: picture) { return nil }
    let packed = try unsafe packedPixels(of: frame, sources, for: picture)
    guard frame.size != picture.size else {
      for rect in sources { try unsafe packed.convert(rect, into: picture) }
      return rects == nil ? nil : sources
    }
    extraPasses += 1
    let targets =
      rects == nil ? [PixelRect(picture.size)] : sources.map { scale($0, from: frame.size, to: picture.size) }
    let scratch = Self.reuse(&scaled, size: picture.size)
    for rect in targets {
      try unsafe packed.scale(rect, into: scratch)
      try unsafe scratch.pixels(order: packed.order).convert(rect, into: picture)
    }
    return rects == nil ? nil : targets
  }

  /// False for what needs another pass.
  private func convertDirectly(
    _ frame: VideoFrame, _ rects: [PixelRect], into picture: InputPicture
  ) throws(ConversionError) -> Bool {
    let format = frame.buffer.format
    guard format.planeCount > 1 else {
      // libyuv makes I444 of B, G, R, A alone.
      guard picture.format != .i444 || format == .bgra else { return false }
      let packed = unsafe PackedPixels(frame.buffer)
      for rect in rects { try unsafe packed.convert(rect, into: picture) }
      return true
    }
    guard isTurnable(frame, into: picture), picture.format != .i444 || format != .nv12 else { return false }
    for rect in rects {
      try convertPlanes(frame.buffer, rect, into: picture)
      if frame.colorSpace.matrix == .bt709 { MatrixTurn.turn(rect, of: picture) }
    }
    return true
  }

  /// Whether planes come to the picture's colour space without red, green and blue in between.
  private func isTurnable(_ frame: VideoFrame, into picture: InputPicture) -> Bool {
    frame.colorSpace.range == .limited && (frame.colorSpace.matrix == .bt601 || picture.format == .i420)
  }

  /// Scales planes of their own, which come whole as a rule, so that parts are not worth the trouble. False for formats
  /// that need another pass.
  private func scaleDirectly(_ frame: VideoFrame, into picture: InputPicture) -> Bool {
    guard frame.size != picture.size, frame.buffer.format == .i420 || frame.buffer.format == .i444,
      picture.format == .i420, isTurnable(frame, into: picture)
    else { return false }
    scalePlanes(frame.buffer, into: picture)
    if frame.colorSpace.matrix == .bt709 { MatrixTurn.turn(PixelRect(picture.size), of: picture) }
    return true
  }

  /// The frame as packed RGB of its own size for `PackedPixels.convert`, at least `rects` of it.
  private mutating func packedPixels(
    of frame: VideoFrame, _ rects: [PixelRect], for picture: InputPicture
  ) throws(ConversionError) -> PackedPixels {
    let format = frame.buffer.format
    if format == .bgra || (format == .rgba && picture.format != .i444) { return unsafe PackedPixels(frame.buffer) }
    extraPasses += 1
    let scratch = Self.reuse(&unpacked, size: frame.size)
    for rect in rects {
      if format == .rgba {
        try unsafe PackedPixels(frame.buffer).swap(rect, into: scratch)
      } else {
        try unpack(frame, rect, into: scratch)
      }
    }
    return unsafe scratch.pixels(order: .bgra)
  }

  private static func reuse(_ slot: inout PackedScratch?, size: PixelSize) -> PackedScratch {
    if let scratch = slot, scratch.size == size { return scratch }
    let scratch = PackedScratch(size: size)
    slot = scratch
    return scratch
  }

  /// The region that a source rectangle's pixels affect after scaling: filters reach one target pixel further.
  private func scale(_ rect: PixelRect, from: PixelSize, to: PixelSize) -> PixelRect {
    let reach = 2
    let left = rect.x * to.width / from.width - reach
    let top = rect.y * to.height / from.height - reach
    let right = (rect.maxX * to.width + from.width - 1) / from.width + reach
    let bottom = (rect.maxY * to.height + from.height - 1) / from.height + reach
    let x = max(0, left)
    let y = max(0, top)
    return PixelRect(x: x, y: y, width: right - x, height: bottom - y).aligned(to: 2, within: to)
  }
}

func check(_ status: Int32) throws(ConversionError) {
  guard status == 0 else { throw .library(status: Int(status)) }
}
