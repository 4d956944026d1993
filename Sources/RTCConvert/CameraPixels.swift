import CYUV
package import RTCMedia

/// Converts pixels of cameras to the formats of frames.
package enum CameraPixels {
  /// Two pixels in four bytes, Y U Y V, become I420.
  ///
  /// - Returns: nil when there are fewer bytes than the size needs, or a size is odd across.
  package static func i420(yuyv bytes: Span<UInt8>, stride: Int, size: PixelSize) -> PixelBuffer? {
    guard size.width > 0, size.height > 0, size.width % 2 == 0, stride >= size.width * 2,
      bytes.count >= stride * (size.height - 1) + size.width * 2
    else { return nil }
    let (luma, chroma) = ((size.width + 63) / 64 * 64, (size.width / 2 + 63) / 64 * 64)
    let chromaRows = (size.height + 1) / 2
    return unsafe make(.i420, size, strides: [luma, chroma, chroma], rows: [size.height, chromaRows, chromaRows]) {
      base in
      let u = unsafe base + luma * size.height
      let v = unsafe u + chroma * chromaRows
      // The span holds the rows that were counted above, and the target has room for as many.
      return unsafe bytes.withUnsafeBufferPointer {
        unsafe YUY2ToI420(
          $0.baseAddress, Int32(stride), base, Int32(luma), u, Int32(chroma), v, Int32(chroma), Int32(size.width),
          Int32(size.height))
      }
    }
  }

  /// A JPEG picture becomes B, G, R, X.
  ///
  /// - Returns: nil when the bytes are no such picture, or one of another size.
  package static func bgra(jpeg bytes: Span<UInt8>, size: PixelSize) -> PixelBuffer? {
    guard size.width > 0, size.height > 0, !bytes.isEmpty else { return nil }
    let stride = (size.width * 4 + 63) / 64 * 64
    return unsafe make(.bgra, size, strides: [stride], rows: [size.height]) { base in
      // libyuv reads no byte beyond the count, and checks the size before it writes.
      unsafe bytes.withUnsafeBufferPointer {
        unsafe MJPGToARGB(
          $0.baseAddress, $0.count, base, Int32(stride), Int32(size.width), Int32(size.height), Int32(size.width),
          Int32(size.height))
      }
    }
  }

  /// Memory for planes one after another, filled by `fill`, which returns 0 when that went well.
  private static func make(
    _ format: PixelFormat, _ size: PixelSize, strides: [Int], rows: [Int],
    fill: (UnsafeMutablePointer<UInt8>) -> Int32
  ) -> PixelBuffer? {
    let count = zip(strides, rows).reduce(0) { $0 + $1.0 * $1.1 }
    // Freed by the buffer's release, or here when there is none.
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
    unsafe memory.initialize(repeating: 0, count: count)
    let address = UInt(bitPattern: memory)
    var offset = 0
    var planes = unsafe [(base: UnsafeRawPointer, stride: Int)]()
    for (stride, rows) in zip(strides, rows) {
      unsafe planes.append((UnsafeRawPointer(memory + offset), stride))
      offset += stride * rows
    }
    guard unsafe fill(memory) == 0,
      let buffer = unsafe PixelBuffer(
        format: format, size: size, planes: planes,
        release: { unsafe UnsafeMutablePointer<UInt8>(bitPattern: address)!.deallocate() })
    else {
      unsafe memory.deallocate()
      return nil
    }
    return buffer
  }
}
