import RTCMedia

/// The planes of the picture that is to be coded, as long as their owner is held; beyond its edges the last samples go on.
@safe
struct SourcePicture {
  private let size: PixelSize
  private let planes: [VPXPlane]

  /// - Parameter planes: of a picture of this size, whose owner outlives this.
  @unsafe
  init(size: PixelSize, planes: [VPXPlane]) {
    self.size = size
    unsafe self.planes = planes
  }

  /// Four by four samples from column `x` and line `y` of a plane on.
  func block(_ index: Int, x: Int, y: Int) -> BlockTransform.Matrix {
    let (width, height) = index == 0 ? (size.width, size.height) : ((size.width + 1) / 2, (size.height + 1) / 2)
    func line(_ offset: Int) -> SIMD4<Int32> {
      // Within the plane.
      let start = unsafe planes[index].base + min(y + offset, height - 1) * planes[index].stride
      let last = width - 1
      return unsafe SIMD4(
        Int32(start[min(x, last)]), Int32(start[min(x + 1, last)]), Int32(start[min(x + 2, last)]),
        Int32(start[min(x + 3, last)]))
    }
    return (line(0), line(1), line(2), line(3))
  }
}
