import RTCMedia

/// The planes of the picture that is to be coded, as long as their owner is held; beyond its edges the last samples go on.
@safe
struct SourcePicture {
  private let size: PixelSize
  private let planes: (VPXPlane, VPXPlane, VPXPlane)

  /// - Parameter planes: of a picture of this size, whose owner outlives this.
  @unsafe
  init(size: PixelSize, planes: [VPXPlane]) {
    self.size = size
    unsafe self.planes = (planes[0], planes[1], planes[2])
  }

  /// Four by four samples from column `x` and line `y` of a plane on.
  func block(_ index: Int, x: Int, y: Int) -> BlockTransform.Matrix {
    let plane = unsafe index == 0 ? planes.0 : index == 1 ? planes.1 : planes.2
    let (width, height) = index == 0 ? (size.width, size.height) : ((size.width + 1) / 2, (size.height + 1) / 2)
    guard x + 4 <= width, y + 4 <= height else { return unsafe edgeBlock(plane, x: x, y: y, width, height) }
    // All sixteen lie within the plane.
    let first = unsafe plane.base + y * plane.stride + x
    return unsafe (
      VPXPlane.four(first), VPXPlane.four(first + plane.stride), VPXPlane.four(first + 2 * plane.stride),
      VPXPlane.four(first + 3 * plane.stride)
    )
  }

  @unsafe
  private func edgeBlock(_ plane: VPXPlane, x: Int, y: Int, _ width: Int, _ height: Int) -> BlockTransform.Matrix {
    func line(_ offset: Int) -> SIMD4<Int32> {
      // Within the plane.
      let start = unsafe plane.base + min(y + offset, height - 1) * plane.stride
      let last = width - 1
      return unsafe SIMD4(
        Int32(start[min(x, last)]), Int32(start[min(x + 1, last)]), Int32(start[min(x + 2, last)]),
        Int32(start[min(x + 3, last)]))
    }
    return (line(0), line(1), line(2), line(3))
  }
}
