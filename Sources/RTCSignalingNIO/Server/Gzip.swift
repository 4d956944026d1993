import CZlib

/// Files in the format of RFC 1952.
enum Gzip {
  /// The format's own header and trailer instead of zlib's (`deflateInit2` in zlib.h).
  private static let windowBits: Int32 = 15 + 16
  private static let memoryLevel: Int32 = 8

  /// Compresses with zlib's best level: some 5 ms for a page of 80 kB.
  /// - Returns: nil if zlib has no memory.
  static func compress(_ bytes: [UInt8]) -> [UInt8]? {
    var stream = unsafe z_stream()
    guard
      unsafe deflateInit2_(
        &stream, Z_BEST_COMPRESSION, Z_DEFLATED, windowBits, memoryLevel, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
        Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else { return nil }
    defer { unsafe deflateEnd(&stream) }
    var input = bytes
    let room = unsafe Int(deflateBound(&stream, UInt(bytes.count)))
    // Both arrays outlive the call: zlib uses no pointer after `deflate` has reported the end.
    let output = unsafe [UInt8](unsafeUninitializedCapacity: room) { output, count in
      unsafe input.withUnsafeMutableBufferPointer { input in
        unsafe (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
        unsafe (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
        count = unsafe deflate(&stream, Z_FINISH) == Z_STREAM_END ? Int(stream.total_out) : 0
      }
    }
    return output.isEmpty ? nil : output
  }
}
