internal import CFFmpeg
internal import RTCCodecFFmpeg
internal import RTCMedia
internal import RTCPrimitives

/// A decoder of one stream, fed with packets whose times are media time in nanoseconds. Used by one thread.
final class CodecContext {
  private let context: UnsafeMutablePointer<AVCodecContext>
  /// The largest picture that is decoded, in pixels.
  static let mostPixels = 1 << 26

  /// Outlives the context.
  private let store: FrameStore?

  /// - Parameter memory: where decoded pictures are put, for codecs that let it be chosen; nil: memory of FFmpeg's own.
  init(_ stream: MediaStream, memory: (any DecoderMemory)? = nil) throws(FFmpegError) {
    guard let codec = avcodec_find_decoder(stream.parameters.pointee.codec_id),
      let context = avcodec_alloc_context3(codec)
    else { throw FFmpegError(cffmpeg_error(ENOSYS), in: "avcodec_find_decoder") }
    self.context = context
    let isChoosable = codec.pointee.capabilities & AV_CODEC_CAP_DR1 != 0
    store = isChoosable ? memory.map { FrameStore(source: $0) } : nil
    try FFmpegError.check(
      avcodec_parameters_to_context(context, stream.parameters), "avcodec_parameters_to_context")
    context.pointee.pkt_timebase = .nanosecond
    // A picture's worth of memory at most, whatever a damaged header says.
    context.pointee.max_pixels = Int64(Self.mostPixels)
    context.pointee.thread_count = Self.threadCount(for: stream)
    // Columns cut away at the left are so exactly, though rows then begin anywhere in memory.
    context.pointee.flags |= AV_CODEC_FLAG_UNALIGNED
    store?.supply(context)
    try FFmpegError.check(avcodec_open2(context, codec, nil), "avcodec_open2")
  }

  deinit {
    var context: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&context)
  }

  /// Gives a packet, or nil for the end; what it refuses as damaged is left out.
  func send(_ payload: PacketPayload?) {
    guard let payload else {
      avcodec_send_packet(context, nil)
      return
    }
    // One that another process has is none of this decoder's.
    if let packet = payload.packet { avcodec_send_packet(context, packet) }
  }

  /// The next frame, the caller's to free; nil when the decoder wants more first.
  func receive() -> UnsafeMutablePointer<AVFrame>? {
    guard var frame = av_frame_alloc() else { return nil }
    guard avcodec_receive_frame(context, frame) >= 0 else {
      Self.free(&frame)
      return nil
    }
    return frame
  }

  /// Forgets everything, after the end or before a jump.
  func flush() { avcodec_flush_buffers(context) }

  /// The number of pictures that may wait for a later one before they are delivered.
  var reorderDepth: Int { Int(max(0, context.pointee.has_b_frames)) }

  /// Leaves out pictures that no other refers to, while there is more to decode than time.
  func setHurrying(_ isHurrying: Bool) {
    context.pointee.skip_frame = isHurrying ? AVDISCARD_NONREF : AVDISCARD_DEFAULT
  }

  private static func free(_ frame: inout UnsafeMutablePointer<AVFrame>) {
    var owned: UnsafeMutablePointer<AVFrame>? = frame
    av_frame_free(&owned)
  }

  /// Small pictures decode in a millisecond or two: a second thread would only cost memory and switches.
  private static func threadCount(for stream: MediaStream) -> Int32 {
    let size = stream.description.size
    guard stream.isPicture, size.width * size.height > 1280 * 720 else { return 1 }
    return max(1, min(4, av_cpu_count()))
  }
}
