import CVPX
public import RTCMedia

/// VP8 by libvpx, decoding. Used by one thread at a time.
@safe
public final class VP8Decoder: VideoDecoder {
  public let codec = VideoCodec.vp8
  private let context: UnsafeMutablePointer<vpx_codec_ctx_t>

  public init() throws(VideoDecoderError) {
    unsafe context = UnsafeMutablePointer.allocate(capacity: 1)
    unsafe context.initialize(to: vpx_codec_ctx_t())
    let status = unsafe cvpx_vp8_decoder_init(context)
    guard status == VPX_CODEC_OK else { throw .library(status: Int(status.rawValue)) }
  }

  deinit {
    unsafe vpx_codec_destroy(context)
    unsafe context.deinitialize(count: 1)
    unsafe context.deallocate()
  }

  /// Decodes one frame into an I420 buffer of its own; nil when the frame shows nothing.
  ///
  /// - Throws: for bytes that are no VP8 frame, or one that needs a frame not seen.
  public func decode(_ data: [UInt8]) throws(VideoDecoderError) -> PixelBuffer? {
    let status = unsafe data.withUnsafeBufferPointer { bytes in
      unsafe vpx_codec_decode(context, bytes.baseAddress, UInt32(bytes.count), nil, 0)
    }
    guard status == VPX_CODEC_OK else { throw .library(status: Int(status.rawValue)) }
    var position = unsafe vpx_codec_iter_t(bitPattern: 0)
    guard let image = unsafe vpx_codec_get_frame(context, &position)?.pointee else { return nil }
    let size = unsafe PixelSize(width: Int(image.d_w), height: Int(image.d_h))
    let planes = unsafe [
      (image.planes.0!, Int(image.stride.0)), (image.planes.1!, Int(image.stride.1)),
      (image.planes.2!, Int(image.stride.2)),
    ]
    return PixelBuffer.allocate(format: .i420, size: size) { index, bytes, stride in
      let extent = PixelFormat.i420.planeExtent(index, of: size)
      let (base, sourceStride) = unsafe planes[index]
      for row in 0..<extent.rows {
        // libvpx keeps the image until the next call to it.
        let line = unsafe UnsafeBufferPointer(start: base + row * sourceStride, count: extent.rowBytes)
        for column in 0..<extent.rowBytes { bytes[row * stride + column] = unsafe line[column] }
      }
    }
  }
}
