import CYUV
import RTCMedia

/// A picture's planes without their detail: scaled down and up again.
@safe
final class BlurredPicture {
  private let size: PixelSize
  private let planes: InputPicture
  private let small: InputPicture

  init(size: PixelSize) {
    self.size = size
    planes = InputPicture(size: size)
    small = InputPicture(size: PixelSize(width: max(1, (size.width + 1) / 2), height: max(1, (size.height + 1) / 2)))
  }

  /// Takes in `source`, which has the size of this picture, at 1/`reduction` of its resolution; 2–3 ms at 1080p.
  ///
  /// - Parameter lines: those that lose their detail; the others are copied.
  /// - Returns: planes that live as long as this object.
  @unsafe
  func take(_ source: [VP8Context.Plane], reduction: Int, lines: Range<Int>) -> [VP8Context.Plane] {
    unsafe (0..<3).map { index in
      let (width, height) = index == 0 ? (size.width, size.height) : ((size.width + 1) / 2, (size.height + 1) / 2)
      let (smallWidth, smallHeight) = (max(1, width / reduction), max(1, height / reduction))
      let (target, between) = unsafe (planes.unsafePlane(index), small.unsafePlane(index))
      unsafe ScalePlane(
        source[index].base, Int32(source[index].stride), Int32(width), Int32(height), between.base,
        Int32(between.stride), Int32(smallWidth), Int32(smallHeight), kFilterBox)
      unsafe ScalePlane(
        between.base, Int32(between.stride), Int32(smallWidth), Int32(smallHeight), target.base, Int32(target.stride),
        Int32(width), Int32(height), kFilterBilinear)
      let scale = index == 0 ? 1 : 2
      let (first, end) = (min(height, lines.lowerBound / scale), min(height, (lines.upperBound + scale - 1) / scale))
      for sharp in [0..<first, end..<height] where !sharp.isEmpty {
        unsafe CopyPlane(
          source[index].base + sharp.lowerBound * source[index].stride, Int32(source[index].stride),
          target.base + sharp.lowerBound * target.stride, Int32(target.stride), Int32(width), Int32(sharp.count))
      }
      return unsafe VP8Context.Plane(base: UnsafePointer(target.base), stride: target.stride)
    }
  }
}
