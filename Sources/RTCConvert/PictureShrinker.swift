import CYUV
package import RTCMedia

/// Makes small packed pictures of large ones, by the mean of the pixels that fall together. Used by one thread at a time.
package struct PictureShrinker: ~Copyable {
  private var unpacked: PackedScratch?

  /// Without memory; it is allocated when a picture first needs it.
  package init() {}

  /// The size of a picture that is at most `width` wide and has the shape of `size`. It is never larger than `size`.
  package static func size(of size: PixelSize, width: Int) -> PixelSize {
    guard size.width > width, width > 0, size.width > 0 else { return size }
    return PixelSize(width: width, height: max(1, (size.height * width + size.width / 2) / size.width))
  }

  /// - Parameter width: the greatest width of the result.
  /// - Returns: the picture as B, G, R, A in memory of its own.
  package mutating func shrink(_ frame: VideoFrame, width: Int) throws(ConversionError) -> PixelBuffer {
    let size = Self.size(of: frame.size, width: width)
    let source = try unsafe packedPixels(of: frame)
    var status: Int32 = -1
    let target = PixelBuffer.allocate(format: .bgra, size: size) { _, bytes, stride in
      unsafe bytes.withUnsafeMutableBufferPointer { bytes in
        // The buffer has `stride` bytes for each row of the target, and the source is held by `frame` or by `self`.
        unsafe status = ARGBScale(
          source.base, Int32(source.stride), Int32(frame.size.width), Int32(frame.size.height), bytes.baseAddress!,
          Int32(stride), Int32(size.width), Int32(size.height), kFilterBox)
      }
    }
    try check(status)
    guard let target else { throw .library(status: 0) }
    return target
  }

  /// Forgets the memory for conversions.
  package mutating func reset() { unpacked = nil }

  /// The frame as B, G, R, A of its own size.
  private mutating func packedPixels(of frame: VideoFrame) throws(ConversionError) -> PackedPixels {
    guard frame.buffer.format != .bgra else { return unsafe PackedPixels(frame.buffer) }
    let scratch: PackedScratch
    if let known = unpacked, known.size == frame.size {
      scratch = known
    } else {
      scratch = PackedScratch(size: frame.size)
      unpacked = scratch
    }
    if frame.buffer.format == .rgba {
      try unsafe PackedPixels(frame.buffer).swap(PixelRect(frame.size), into: scratch)
    } else {
      try unpack(frame, PixelRect(frame.size), into: scratch)
    }
    return unsafe scratch.pixels(order: .bgra)
  }
}
