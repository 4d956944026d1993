import RTCConvert
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
  /// - Returns: planes that live as long as this object.
  @unsafe
  func take(_ source: [VPXPlane], reduction: Int) -> [VPXPlane] {
    unsafe (0..<3).map { index in
      let (width, height) = index == 0 ? (size.width, size.height) : ((size.width + 1) / 2, (size.height + 1) / 2)
      let (target, between) = unsafe (planes.unsafePlane(index), small.unsafePlane(index))
      unsafe PlaneDetail.remove(
        (source[index].base, source[index].stride), width: width, height: height, reduction: reduction,
        by: PlaneDetail.Plane(base: between.base, stride: between.stride),
        into: PlaneDetail.Plane(base: target.base, stride: target.stride))
      return unsafe VPXPlane(base: UnsafePointer(target.base), stride: target.stride)
    }
  }
}
