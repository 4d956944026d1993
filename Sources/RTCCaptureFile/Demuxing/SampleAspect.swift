internal import CFFmpeg
internal import RTCPrimitives

/// The width of a picture's pixels relative to their height.
struct SampleAspect: Hashable {
  private var width: Int
  private var height: Int

  /// Beyond this a file is broken.
  private static let extreme = 16

  /// - Parameters:
  ///   - coded: as the codec says it, 0 where it does not.
  ///   - contained: as the container says it, which counts more.
  init(_ coded: AVRational, _ contained: AVRational) {
    let said = contained.num > 0 && contained.den > 0 ? contained : coded
    (width, height) = (Int(said.num), Int(said.den))
    let isPossible =
      width > 0 && height > 0 && width <= height * Self.extreme && height <= width * Self.extreme
    if !isPossible { (width, height) = (1, 1) }
  }

  /// The size that shows the picture as it is meant, with pixels as wide as high. The rows stay.
  func squareSize(of size: PixelSize) -> PixelSize {
    guard width != height, size.width > 0 else { return size }
    let wide = (Double(size.width) * Double(width) / Double(height) / 2).rounded() * 2
    // As large as pictures may be, see `CodecContext`.
    guard wide >= 2, wide * Double(size.height) <= Double(CodecContext.mostPixels) else { return size }
    return PixelSize(width: Int(wide), height: size.height)
  }
}
