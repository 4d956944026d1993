import RTCCodecWebP
import RTCConvert
package import RTCMedia
import RTCPrimitives

/// Makes small still pictures: scales, turns and encodes them. Used by one thread at a time.
package struct StillEncoder: ~Copyable {
  private var shrinker = PictureShrinker()
  private var turner = PictureTurner()
  private let encoder = WebPEncoder()

  /// Without memory.
  package init() {}

  /// The picture, upright and at most `width` wide, in packed pixels.
  package mutating func shrink(_ frame: VideoFrame, width: Int) -> PixelBuffer? {
    guard let small = try? shrinker.shrink(frame, width: width) else { return nil }
    let turned = VideoFrame(buffer: small, captureTime: frame.captureTime, rotation: frame.rotation, colorSpace: .sRGB)
    return turner.upright(turned).buffer
  }

  /// A WebP file of packed pixels, at most `width` wide, and not exact.
  package mutating func webP(_ picture: PixelBuffer, width: Int) -> [UInt8]? {
    var picture = picture
    if picture.size.width > width {
      let frame = VideoFrame(buffer: picture, captureTime: .zero, colorSpace: .sRGB)
      guard let smaller = try? shrinker.shrink(frame, width: width) else { return nil }
      picture = smaller
    }
    return try? encoder.encode(picture, PixelRect(picture.size), .lossy)
  }

  /// Forgets memory that large pictures needed.
  package mutating func reset() { shrinker.reset() }
}
