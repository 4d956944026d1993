import CVPX
package import RTCMedia

/// VP9 by libvpx, decoding profiles 0 and 1 (8 bits; 4:2:0 and 4:4:4). Pictures are handed over in the memory that libvpx
/// decoded them into. Used by one thread at a time.
package final class VP9Decoder: VideoDecoder {
  /// Always VP9.
  package let codec = VideoCodec.vp9
  /// BT.709 or BT.601 as the last picture's bitstream says; nil when it says another or none.
  package private(set) var colorSpace: ColorSpace?
  private let store: VP9FrameStore
  private let decoding: VPXDecoding

  /// - Parameters:
  ///   - threads: for pictures of several tiles, so of 512 columns and more.
  ///   - mostBytes: what all pictures in use may take together; 512 MiB are about a hundred of 1080p.
  ///   - memory: where pictures are put.
  package init(
    threads: Int = 2, mostBytes: Int = 512 << 20, memory: any DecoderMemory = OwnDecoderMemory()
  ) throws(VideoDecoderError) {
    store = VP9FrameStore(mostBytes: mostBytes, source: memory)
    decoding = unsafe try VPXDecoding(vpx_codec_vp9_dx(), threads: threads)
    try decoding.useMemory(of: store)
  }

  /// Decodes one frame; nil when it shows nothing.
  ///
  /// - Throws: for bytes that are no VP9 frame, one that needs a frame not seen, pictures beyond 8K or in formats that
  ///   screens have no use for, and when pictures in use would take more than `mostBytes`. Then only a key frame is taken.
  package func decode(_ data: [UInt8]) throws(VideoDecoderError) -> PixelBuffer? {
    let picture = unsafe try decoding.decode(data) { image throws(VideoDecoderError) in
      unsafe try lease(image.pointee)
    }
    return picture ?? nil
  }

  private func lease(_ image: vpx_image_t) throws(VideoDecoderError) -> PixelBuffer? {
    let format: PixelFormat
    switch unsafe image.fmt {
    case VPX_IMG_FMT_I420: format = .i420
    case VPX_IMG_FMT_I444 where unsafe image.cs != VPX_CS_SRGB: format = .i444
    default:
      throw unsafe .unsupportedPicture(
        "The sender's VP9 is in libvpx's image format \(image.fmt.rawValue); shown are 8 bits of 4:2:0 and 4:4:4.")
    }
    colorSpace = unsafe Self.colorSpace(image.cs)
    guard let address = unsafe image.fb_priv else { return nil }
    // libvpx holds a reference of its own until it needs the picture no more, and changes no picture it has shown.
    let memory = unsafe Unmanaged<VP9FrameMemory>.fromOpaque(address).takeUnretainedValue()
    let planes = unsafe [
      (UnsafeRawPointer(image.planes.0!), Int(image.stride.0)),
      (UnsafeRawPointer(image.planes.1!), Int(image.stride.1)),
      (UnsafeRawPointer(image.planes.2!), Int(image.stride.2)),
    ]
    return unsafe PixelBuffer(
      format: format, size: PixelSize(width: Int(image.d_w), height: Int(image.d_h)), planes: planes,
      release: { withExtendedLifetime(memory) {} })
  }

  private static func colorSpace(_ said: vpx_color_space_t) -> ColorSpace? {
    switch said {
    case VPX_CS_BT_709: .bt709Limited
    case VPX_CS_BT_601, VPX_CS_SMPTE_170: .bt601Limited
    default: nil
    }
  }
}

extension VP9Decoder {
  /// Makes decoders of two threads, for a `CodecRegistry`; any thread.
  package static var factory: VideoDecoderFactory { { () throws(VideoDecoderError) in try VP9Decoder() } }
}
