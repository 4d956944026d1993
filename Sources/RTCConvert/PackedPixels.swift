import CYUV
import RTCMedia

/// Packed RGB pixels of a frame or of scratch memory, whichever owner the caller holds for as long as it uses this.
@unsafe
struct PackedPixels {
  enum Order {
    case bgra
    case rgba
  }

  let order: Order
  let size: PixelSize
  let base: UnsafePointer<UInt8>
  let stride: Int

  init(order: Order, size: PixelSize, base: UnsafePointer<UInt8>, stride: Int) {
    unsafe self.order = order
    unsafe self.size = size
    unsafe self.base = base
    unsafe self.stride = stride
  }

  /// - Parameter buffer: of a packed format.
  init(_ buffer: PixelBuffer) {
    let plane = unsafe buffer.unsafePlane(0)
    unsafe self.init(
      order: buffer.format == .rgba ? .rgba : .bgra, size: buffer.size,
      base: plane.base.assumingMemoryBound(to: UInt8.self), stride: plane.stride)
  }

  /// Converts one rectangle, its corner on even coordinates, to the same place of `picture`; to I444 from `bgra` alone.
  func convert(_ rect: PixelRect, into picture: InputPicture) throws(ConversionError) {
    switch picture.format {
    case .i444: return try unsafe convertWhole(rect, into: picture)
    case .nv12: return try unsafe convertInterleaved(rect, into: picture)
    case .i420, .bgra, .rgba: break
    }
    // In bands that stay in the cache, as luma and chroma each read the pixels.
    for top in Swift.stride(from: 0, to: rect.height, by: 16) {
      let band = PixelRect(x: rect.x, y: rect.y + top, width: rect.width, height: min(16, rect.height - top))
      try unsafe convertLuma(band, into: picture)
      unsafe convertChroma(band, into: picture)
    }
  }

  private func convertWhole(_ rect: PixelRect, into picture: InputPicture) throws(ConversionError) {
    let from = unsafe base + rect.y * stride + rect.x * 4
    let (y, u, v) = unsafe (picture.address(0, rect), picture.address(1, rect), picture.address(2, rect))
    let strides = (0..<3).map { Int32(picture.stride(ofPlane: $0)) }
    try check(
      unsafe ARGBToI444(
        from, Int32(stride), y, strides[0], u, strides[1], v, strides[2], Int32(rect.width), Int32(rect.height)))
  }

  private func convertInterleaved(_ rect: PixelRect, into picture: InputPicture) throws(ConversionError) {
    let from = unsafe base + rect.y * stride + rect.x * 4
    let (y, uv) = unsafe (picture.address(0, rect), picture.address(1, rect))
    let strides = (Int32(picture.stride(ofPlane: 0)), Int32(picture.stride(ofPlane: 1)))
    let convert = unsafe order == .bgra ? ARGBToNV12 : ABGRToNV12
    try check(
      unsafe convert(from, Int32(stride), y, strides.0, uv, strides.1, Int32(rect.width), Int32(rect.height)))
  }

  /// Puts one rectangle of R, G, B, A as B, G, R, A to the same place of `target`.
  func swap(_ rect: PixelRect, into target: PackedScratch) throws(ConversionError) {
    let from = unsafe base + rect.y * stride + rect.x * 4
    let to = unsafe target.memory.baseAddress! + rect.y * target.stride + rect.x * 4
    try check(
      unsafe ABGRToARGB(from, Int32(stride), to, Int32(target.stride), Int32(rect.width), Int32(rect.height)))
  }

  private func convertLuma(_ rect: PixelRect, into picture: InputPicture) throws(ConversionError) {
    let from = unsafe base + rect.y * stride + rect.x * 4
    let y = unsafe picture.address(0, rect)
    let strides = (Int32(picture.stride(ofPlane: 0)), Int32(picture.stride(ofPlane: 1)))
    let (width, height) = (Int32(rect.width), Int32(rect.height))
    // libyuv names formats by their 32-bit word, so its ARGB lies in memory as B, G, R, A.
    switch unsafe order {
    case .bgra: try check(unsafe ARGBToI400(from, Int32(stride), y, strides.0, width, height))
    case .rgba:
      // libyuv has no function for luma alone.
      let (u, v) = unsafe (picture.address(1, rect), picture.address(2, rect))
      let last = Int32(picture.stride(ofPlane: 2))
      try check(unsafe ABGRToI420(from, Int32(stride), y, strides.0, u, strides.1, v, last, width, height))
    }
  }

  private func convertChroma(_ rect: PixelRect, into picture: InputPicture) {
    let from = unsafe base + rect.y * stride + rect.x * 4
    let (u, v) = unsafe (picture.address(1, rect), picture.address(2, rect))
    let strides = (u: picture.stride(ofPlane: 1), v: picture.stride(ofPlane: 2))
    for row in 0..<(rect.height + 1) / 2 {
      let top = unsafe from + row * 2 * stride
      let bottom = unsafe row * 2 + 1 < rect.height ? top + stride : top
      let line = unsafe ChromaRow(
        order: order, top: top, bottom: bottom, u: u + row * strides.u, v: v + row * strides.v)
      unsafe line.convert(width: rect.width)
    }
  }

  /// Scales the part that falls into `rect` of `target`, exactly as scaling the whole would.
  func scale(_ rect: PixelRect, into target: PackedScratch) throws(ConversionError) {
    try check(
      unsafe ARGBScaleClip(
        base, Int32(stride), Int32(size.width), Int32(size.height), target.memory.baseAddress!, Int32(target.stride),
        Int32(target.size.width), Int32(target.size.height), Int32(rect.x), Int32(rect.y), Int32(rect.width),
        Int32(rect.height), kFilterBox))
  }
}

/// Memory for one packed RGB picture.
@safe
final class PackedScratch {
  let size: PixelSize
  let stride: Int
  let memory: UnsafeMutableBufferPointer<UInt8>

  init(size: PixelSize) {
    self.size = size
    stride = (size.width * 4 + 63) / 64 * 64
    unsafe memory = UnsafeMutableBufferPointer.allocate(capacity: stride * size.height)
    unsafe memory.initialize(repeating: 0)
  }

  deinit { unsafe memory.deallocate() }

  @unsafe
  func pixels(order: PackedPixels.Order) -> PackedPixels {
    unsafe PackedPixels(order: order, size: size, base: UnsafePointer(memory.baseAddress!), stride: stride)
  }
}

extension InputPicture {
  /// The address in plane `index` of the pixel at the corner of `rect`, which has even coordinates.
  @unsafe
  func address(_ index: Int, _ rect: PixelRect) -> UnsafeMutablePointer<UInt8> {
    let plane = unsafe unsafePlane(index)
    return switch (format, index) {
    case (_, 0), (.i444, _): unsafe plane.base + rect.y * plane.stride + rect.x
    // Alternating U and V: as many bytes as there are pixels.
    case (.nv12, _): unsafe plane.base + rect.y / 2 * plane.stride + rect.x
    default: unsafe plane.base + rect.y / 2 * plane.stride + rect.x / 2
    }
  }
}

/// Why a frame was not converted.
package enum ConversionError: Error, Hashable, Sendable {
  /// libyuv refused its arguments.
  case library(status: Int)
}
