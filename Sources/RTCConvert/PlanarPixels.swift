import CYUV
package import RTCMedia

/// The plane addresses of one rectangle of a YUV frame; the caller holds the buffer meanwhile.
@unsafe
private struct PlanarRect {
  var y: UnsafePointer<UInt8>
  var u: UnsafePointer<UInt8>
  /// Absent of NV12, whose second plane holds U and V.
  var v: UnsafePointer<UInt8>?
  var strides: (y: Int32, u: Int32, v: Int32)

  init(_ buffer: PixelBuffer, _ rect: PixelRect) {
    func corner(_ index: Int, _ x: Int, _ y: Int) -> UnsafePointer<UInt8> {
      let plane = unsafe buffer.unsafePlane(index)
      return unsafe plane.base.assumingMemoryBound(to: UInt8.self) + y * plane.stride + x
    }
    let chromaX =
      switch buffer.format {
      case .i420: rect.x / 2
      default: rect.x
      }
    let chromaY = buffer.format == .i444 ? rect.y : rect.y / 2
    unsafe y = corner(0, rect.x, rect.y)
    unsafe u = corner(1, chromaX, chromaY)
    unsafe v = buffer.format == .nv12 ? nil : corner(2, chromaX, chromaY)
    let last = buffer.format == .nv12 ? 1 : 2
    unsafe strides = (
      Int32(buffer.stride(ofPlane: 0)), Int32(buffer.stride(ofPlane: 1)), Int32(buffer.stride(ofPlane: last))
    )
  }
}

/// Copies one rectangle of a planar frame to the same place of `picture`, chroma sampled as there; not from NV12 to I444.
func convertPlanes(_ buffer: PixelBuffer, _ rect: PixelRect, into picture: InputPicture) throws(ConversionError) {
  let from = unsafe PlanarRect(buffer, rect)
  let y = unsafe picture.address(0, rect)
  let u = unsafe picture.address(1, rect)
  let last = picture.format == .nv12 ? 1 : 2
  let v = unsafe picture.address(last, rect)
  let luma = Int32(picture.stride(ofPlane: 0))
  let chroma = (u: Int32(picture.stride(ofPlane: 1)), v: Int32(picture.stride(ofPlane: last)))
  let (width, height) = (Int32(rect.width), Int32(rect.height))
  let status =
    switch (buffer.format, picture.format) {
    case (.i444, .i444):
      unsafe I444Copy(
        from.y, from.strides.y, from.u, from.strides.u, from.v!, from.strides.v, y, luma, u, chroma.u, v, chroma.v,
        width, height)
    case (.i444, .nv12):
      unsafe I444ToNV12(
        from.y, from.strides.y, from.u, from.strides.u, from.v!, from.strides.v, y, luma, u, chroma.u, width, height)
    case (.i444, _):
      unsafe I444ToI420(
        from.y, from.strides.y, from.u, from.strides.u, from.v!, from.strides.v, y, luma, u, chroma.u, v, chroma.v,
        width, height)
    case (.nv12, .nv12):
      unsafe NV12Copy(
        from.y, from.strides.y, from.u, from.strides.u, y, luma, u, chroma.u, width, height)
    case (.nv12, _):
      unsafe NV12ToI420(
        from.y, from.strides.y, from.u, from.strides.u, y, luma, u, chroma.u, v, chroma.v, width, height)
    case (_, .i444):
      unsafe I420ToI444(
        from.y, from.strides.y, from.u, from.strides.u, from.v!, from.strides.v, y, luma, u, chroma.u, v, chroma.v,
        width, height)
    case (_, .nv12):
      unsafe I420ToNV12(
        from.y, from.strides.y, from.u, from.strides.u, from.v!, from.strides.v, y, luma, u, chroma.u, width, height)
    default:
      unsafe I420Copy(
        from.y, from.strides.y, from.u, from.strides.u, from.v!, from.strides.v, y, luma, u, chroma.u, v, chroma.v,
        width, height)
    }
  try check(status)
}

/// Scales I420 or I444 planes to the size of `picture`'s.
func scalePlanes(_ buffer: PixelBuffer, into picture: InputPicture) {
  for index in 0..<3 {
    let from = unsafe buffer.unsafePlane(index)
    let to = unsafe picture.unsafePlane(index)
    let target = PixelFormat.i420.planeExtent(index, of: picture.size)
    unsafe ScalePlane(
      from.base.assumingMemoryBound(to: UInt8.self), Int32(from.stride), Int32(from.rowBytes), Int32(from.rows),
      to.base, Int32(to.stride), Int32(target.rowBytes), Int32(target.rows), kFilterBox)
  }
}

/// Turns one rectangle of a planar frame into packed RGB, by the frame's own colour space.
func unpack(_ frame: VideoFrame, _ rect: PixelRect, into target: PackedScratch) throws(ConversionError) {
  let to = unsafe target.memory.baseAddress! + rect.y * target.stride + rect.x * 4
  try unsafe unpack(frame.buffer, rect, frame.colorSpace.constants, to: to, stride: target.stride)
}

/// Converts a whole planar frame (I420, NV12, I444) to B, G, R, A at `target`, by the frame's own colour space.
///
/// - Parameters:
///   - target: room for `stride` times the frame's height, for exclusive use.
///   - stride: in bytes, at least four times the frame's width.
@unsafe
package func unpackToBGRA(
  _ frame: VideoFrame, at target: UnsafeMutablePointer<UInt8>, stride: Int
) throws(ConversionError) {
  try unsafe unpack(frame.buffer, PixelRect(frame.size), frame.colorSpace.constants, to: target, stride: stride)
}

extension ColorSpace {
  /// libyuv's constants for conversion to red, green and blue.
  fileprivate var constants: UnsafePointer<YuvConstants>? {
    switch (matrix, range) {
    case (.bt601, .limited): unsafe cyuv_bt601_limited()
    case (.bt709, .limited): unsafe cyuv_bt709_limited()
    case (.bt709, .full): unsafe cyuv_bt709_full()
    // Planes marked as RGB are those of JPEG.
    case (.bt601, .full), (.rgb, _): unsafe cyuv_bt601_full()
    }
  }
}

@unsafe
private func unpack(
  _ buffer: PixelBuffer, _ rect: PixelRect, _ matrix: UnsafePointer<YuvConstants>?, to: UnsafeMutablePointer<UInt8>,
  stride rowStride: Int
) throws(ConversionError) {
  let from = unsafe PlanarRect(buffer, rect)
  let stride = Int32(rowStride)
  let (width, height) = (Int32(rect.width), Int32(rect.height))
  let status =
    switch buffer.format {
    case .i444:
      unsafe I444ToARGBMatrix(
        from.y, from.strides.y, from.u, from.strides.u, from.v!, from.strides.v, to, stride, matrix, width, height)
    case .nv12:
      unsafe NV12ToARGBMatrix(
        from.y, from.strides.y, from.u, from.strides.u, to, stride, matrix, width, height)
    default:
      unsafe I420ToARGBMatrix(
        from.y, from.strides.y, from.u, from.strides.u, from.v!, from.strides.v, to, stride, matrix, width, height)
    }
  try check(status)
}
