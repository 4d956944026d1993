internal import CFFmpeg
package import RTCMedia
internal import RTCWire

/// H.264, AV1 and the other codecs by FFmpeg's libraries (AV1: dav1d), for pictures that come over the network: each is
/// decoded as soon as it is there, in memory of FFmpeg's own. Used by one thread at a time.
package final class FFmpegVideoDecoder: VideoDecoder {
  /// The codec that the decoder was made for.
  package let codec: VideoCodec
  /// The colour space of the last picture's samples; nil when the bitstream does not say, then BT.601 is assumed.
  package private(set) var colorSpace: ColorSpace?
  private let context: UnsafeMutablePointer<AVCodecContext>
  private let maker = PictureMaker(counters: PictureCounters())
  private var isInStep = false
  /// The memory of the pictures. It outlives the context.
  private let store: FrameStore?

  /// The most pixels of a picture, 8K; larger pictures are refused.
  private static let mostPixels: Int64 = 7_680 * 4_320

  /// Loads what converting may need, for a process that cannot open files later; `init` loads the rest. Libraries of
  /// containers, which bring most of the others with them, are left out.
  package static func loadLibraries() { sws_freeContext(sws_alloc_context()) }

  /// The codecs that the installed libraries can decode.
  package static var codecs: [VideoCodec] { VideoCodec.allCases.filter { find($0) != nil } }

  /// - Parameters:
  ///   - threads: for large pictures. H.264 has one always: with several, FFmpeg does not notice when a part of a picture is
  ///     missing or damaged.
  ///   - memory: where pictures of H.264 are put; nil: memory of FFmpeg's own, where those of AV1 are put always.
  package init(
    _ codec: VideoCodec, threads: Int = 2, memory: (any DecoderMemory)? = nil
  ) throws(VideoDecoderError) {
    _ = Self.silence
    guard let library = Self.find(codec), let context = avcodec_alloc_context3(library) else {
      throw .library(status: Int(cffmpeg_error(ENOSYS)))
    }
    self.codec = codec
    self.context = context
    // Columns cut away at the left are so exactly, though rows then begin anywhere in memory.
    context.pointee.flags |= AV_CODEC_FLAG_LOW_DELAY | AV_CODEC_FLAG_UNALIGNED
    context.pointee.thread_type = FF_THREAD_SLICE
    // What is not whole is refused (`picture(of:)`), but noticed only by what would mend it: error concealment stays on.
    context.pointee.thread_count = codec == .h264 ? 1 : Int32(max(1, min(8, threads)))
    context.pointee.max_pixels = Self.mostPixels
    store = codec == .h264 ? memory.map { FrameStore(source: $0) } : nil
    store?.supply(context)
    let status = avcodec_open2(context, library, nil)
    guard status >= 0 else { throw .library(status: Int(status)) }
  }

  deinit {
    var context: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&context)
  }

  /// Decodes one picture; nil when the packet shows nothing.
  ///
  /// - Throws: for bytes that are no picture of the codec, one that needs a picture not seen, and pictures beyond 8K. Then
  ///   only a key frame is taken.
  package func decode(_ data: [UInt8]) throws(VideoDecoderError) -> PixelBuffer? {
    guard isInStep || startsAnew(data.span) else { throw .library(status: Int(cffmpeg_error_invalid_data)) }
    // Pictures that wait for later ones, as in no call, make all that follow late: that ends with a key frame at the latest.
    if codec == .h264, context.pointee.has_b_frames > 0, startsAnew(data.span) {
      avcodec_flush_buffers(context)
      context.pointee.has_b_frames = 0
    }
    do throws(VideoDecoderError) {
      try send(data)
      isInStep = true
      guard let frame = try lastFrame() else { return nil }
      return try picture(of: frame)
    } catch {
      isInStep = false
      avcodec_flush_buffers(context)
      throw error
    }
  }

  private func send(_ data: [UInt8]) throws(VideoDecoderError) {
    guard !data.isEmpty, let count = Int32(exactly: data.count), count < 1 << 28, let packet = av_packet_alloc() else {
      throw .library(status: Int(cffmpeg_error_invalid_data))
    }
    var owned: UnsafeMutablePointer<AVPacket>? = packet
    defer { av_packet_free(&owned) }
    guard av_new_packet(packet, count) >= 0 else { throw .library(status: Int(cffmpeg_error(ENOMEM))) }
    data.withUnsafeBufferPointer { packet.pointee.data.update(from: $0.baseAddress!, count: $0.count) }
    let status = avcodec_send_packet(context, packet)
    guard status >= 0 else { throw .library(status: Int(status)) }
  }

  /// The newest frame there is, the caller's to free.
  private func lastFrame() throws(VideoDecoderError) -> UnsafeMutablePointer<AVFrame>? {
    var last: UnsafeMutablePointer<AVFrame>?
    while let frame = av_frame_alloc() {
      let status = avcodec_receive_frame(context, frame)
      guard status < 0 else {
        av_frame_free(&last)
        last = frame
        continue
      }
      var unused: UnsafeMutablePointer<AVFrame>? = frame
      av_frame_free(&unused)
      guard status == cffmpeg_error_again || status == cffmpeg_error_eof else {
        av_frame_free(&last)
        throw .library(status: Int(status))
      }
      break
    }
    return last
  }

  private func picture(of frame: UnsafeMutablePointer<AVFrame>) throws(VideoDecoderError) -> PixelBuffer {
    let isDamaged = frame.pointee.decode_error_flags != 0 || frame.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0
    guard !isDamaged else {
      var owned: UnsafeMutablePointer<AVFrame>? = frame
      av_frame_free(&owned)
      throw .library(status: Int(cffmpeg_error_invalid_data))
    }
    let isSaid = frame.pointee.colorspace != AVCOL_SPC_UNSPECIFIED
    // What browsers assume of calls, at any size.
    if !isSaid { frame.pointee.colorspace = AVCOL_SPC_SMPTE170M }
    guard let (buffer, meaning) = maker.picture(of: frame) else {
      throw .unsupportedPicture("A picture in a format that cannot be converted.")
    }
    colorSpace = isSaid || meaning == .sRGB ? meaning : nil
    return buffer
  }

  /// True when the picture needs no other, as far as the codec says that up front.
  private func startsAnew(_ data: Span<UInt8>) -> Bool {
    switch codec {
    case .vp8: return VP8FrameHeader(parsing: data)?.isKeyFrame ?? false
    case .vp9: return data.count > 0
    case .h264:
      var units = H264ByteStream(data)
      while let unit = units.nextUnit(in: data) {
        if H264NALUnitHeader.Kind(rawValue: data[unit.lowerBound]) == .idrSlice { return true }
      }
      return false
    case .av1:
      var offset = 0
      while let unit = AV1OBU(in: data, at: offset) {
        if unit.header.kind == .sequenceHeader { return true }
        offset = unit.payload.upperBound
      }
      return false
    }
  }

  private static func find(_ codec: VideoCodec) -> UnsafePointer<AVCodec>? {
    switch codec {
    case .vp8: avcodec_find_decoder(AV_CODEC_ID_VP8)
    case .vp9: avcodec_find_decoder(AV_CODEC_ID_VP9)
    case .h264: avcodec_find_decoder(AV_CODEC_ID_H264)
    case .av1: avcodec_find_decoder_by_name("libdav1d") ?? avcodec_find_decoder(AV_CODEC_ID_AV1)
    }
  }

  /// Silences FFmpeg's log: a remote peer's malformed data must not fill it. Errors that matter are thrown.
  private static let silence: Void = av_log_set_level(AV_LOG_FATAL)
}

extension FFmpegVideoDecoder {
  /// The decoders of the installed FFmpeg libraries for `codecs`.
  package static func factories(of codecs: [VideoCodec] = [.h264, .av1]) -> [VideoCodec: VideoDecoderFactory] {
    var factories: [VideoCodec: VideoDecoderFactory] = [:]
    for codec in codecs where Self.codecs.contains(codec) { factories[codec] = factory(of: codec) }
    return factories
  }

  // By itself: in an extension of the dictionary this closure crashes Swift 6.3's compiler.
  private static func factory(of codec: VideoCodec) -> VideoDecoderFactory {
    { () throws(VideoDecoderError) in try FFmpegVideoDecoder(codec) }
  }
}

/// FFmpeg's libraries on this machine, in the version that this program was compiled for.
package enum FFmpegLibraries {
  /// Which library cannot be loaded, in the dynamic linker's words; nil: all of them are there. Loads them.
  package static var missing: String? { cffmpeg_missing().map { String(cString: $0) } }
}
