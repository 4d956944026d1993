import CVPX
package import RTCMedia

/// VP8 by libvpx, decoding. Used by one thread at a time.
package final class VP8Decoder: VideoDecoder {
  /// Always VP8.
  package let codec = VideoCodec.vp8
  private let decoding: VPXDecoding
  private let pool: PixelBufferPool

  /// - Parameters:
  ///   - threads: a second one shortens large pictures of senders that prepare for it, and costs every picture a little.
  ///   - memory: where pictures are put.
  package init(threads: Int = 1, memory: any DecoderMemory = OwnDecoderMemory()) throws(VideoDecoderError) {
    pool = PixelBufferPool(memory: memory)
    decoding = unsafe try VPXDecoding(vpx_codec_vp8_dx(), threads: threads)
  }

  /// Decodes one frame into I420 memory of a pool; nil when the frame shows nothing.
  ///
  /// - Throws: for bytes that are no VP8 frame, one that needs a frame not seen, and pictures beyond 8K. Then only a key
  ///   frame is taken.
  package func decode(_ data: [UInt8]) throws(VideoDecoderError) -> PixelBuffer? {
    let picture = unsafe try decoding.decode(data) { image throws(VideoDecoderError) in unsafe copy(image.pointee) }
    return picture ?? nil
  }

  /// libvpx goes on to change its picture with the next call.
  private func copy(_ image: vpx_image_t) -> PixelBuffer? {
    let size = unsafe PixelSize(width: Int(image.d_w), height: Int(image.d_h))
    let sources = unsafe [image.planes.0!, image.planes.1!, image.planes.2!]
    let strides = unsafe [Int(image.stride.0), Int(image.stride.1), Int(image.stride.2)]
    return pool.buffer(.i420, size) { index, bytes, stride in
      let extent = PixelFormat.i420.planeExtent(index, of: size)
      let (source, sourceStride) = unsafe (sources[index], strides[index])
      // Both sides have `rows` rows of at least `rowBytes` bytes, each in memory of its own.
      unsafe bytes.withUnsafeMutableBytes { target in
        for row in 0..<extent.rows {
          unsafe (target.baseAddress! + row * stride).copyMemory(
            from: source + row * sourceStride, byteCount: extent.rowBytes)
        }
      }
    }
  }
}

extension VP8Decoder {
  /// Makes decoders of one thread, for a `CodecRegistry`; any thread.
  package static var factory: VideoDecoderFactory { { () throws(VideoDecoderError) in try VP8Decoder() } }
}
