import CVPX
import RTCMedia

/// The owner of one libvpx decoder. Takes nothing but whole frames, and after a refusal a key frame first.
@safe
final class VPXDecoding {
  /// Larger pictures are refused: 8K still goes.
  static let mostPixels = 7_680 * 4_320

  private let context: UnsafeMutablePointer<vpx_codec_ctx_t>
  private let interface: OpaquePointer
  private var isInStep = false

  /// - Parameters:
  ///   - interface: which codec; a constant of the library.
  ///   - threads: for large pictures.
  init(_ interface: OpaquePointer, threads: Int) throws(VideoDecoderError) {
    unsafe self.interface = unsafe interface
    unsafe context = UnsafeMutablePointer.allocate(capacity: 1)
    unsafe context.initialize(to: vpx_codec_ctx_t())
    try Self.check(unsafe cvpx_decoder_init(context, interface, UInt32(max(1, min(8, threads)))))
  }

  deinit {
    unsafe vpx_codec_destroy(context)
    unsafe context.deinitialize(count: 1)
    unsafe context.deallocate()
  }

  /// Lets libvpx decode into memory that `store` gives. `store` must outlive self.
  func useMemory(of store: VP9FrameStore) throws(VideoDecoderError) {
    try Self.check(
      unsafe vpx_codec_set_frame_buffer_functions(
        context, giveFrameMemory, takeFrameMemory, Unmanaged.passUnretained(store).toOpaque()))
  }

  /// Decodes one frame, and gives the last picture it shows to `body`, valid only within; nil when it shows none.
  func decode<Result>(
    _ data: [UInt8], _ body: (UnsafeMutablePointer<vpx_image_t>) throws(VideoDecoderError) -> Result
  ) throws(VideoDecoderError) -> Result? {
    let wasInStep = isInStep
    isInStep = false
    guard !data.isEmpty, let count = UInt32(exactly: data.count) else { throw Self.damaged }
    guard try startsAnew(data, count) || wasInStep else { throw Self.damaged }
    try Self.check(
      unsafe data.withUnsafeBufferPointer { unsafe vpx_codec_decode(context, $0.baseAddress, count, nil, 0) })
    var position = unsafe vpx_codec_iter_t(bitPattern: 0)
    var shown: UnsafeMutablePointer<vpx_image_t>?
    // Of several layers the last is the finest.
    while let image = unsafe vpx_codec_get_frame(context, &position) { unsafe shown = unsafe image }
    guard unsafe cvpx_is_corrupted(context) == 0 else { throw Self.damaged }
    isInStep = true
    guard let shown = unsafe shown else { return nil }
    return try unsafe body(shown)
  }

  /// True for a key frame. Looks before libvpx does: it would reserve whatever a header asks for.
  private func startsAnew(_ data: [UInt8], _ count: UInt32) throws(VideoDecoderError) -> Bool {
    var info = vpx_codec_stream_info_t()
    let status = unsafe data.withUnsafeBufferPointer { unsafe cvpx_peek(interface, $0.baseAddress, count, &info) }
    // All that VP8 says of frames that are no key frames.
    if status == VPX_CODEC_UNSUP_BITSTREAM, info.is_kf == 0 { return false }
    try Self.check(status)
    guard info.is_kf != 0 else { return false }
    let (width, height) = (Int(info.w), Int(info.h))
    guard width > 0, height > 0, width <= 16_383, height <= 16_383, width * height <= Self.mostPixels else {
      throw .unsupportedPicture("A picture of \(width)x\(height) is larger than is taken here.")
    }
    return true
  }

  private static let damaged = VideoDecoderError.library(status: Int(VPX_CODEC_CORRUPT_FRAME.rawValue))

  private static func check(_ status: vpx_codec_err_t) throws(VideoDecoderError) {
    guard status == VPX_CODEC_OK else { throw .library(status: Int(status.rawValue)) }
  }
}
