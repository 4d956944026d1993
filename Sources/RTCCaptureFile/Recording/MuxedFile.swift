internal import CFFmpeg
internal import Glibc
internal import RTCCodecFFmpeg
internal import RTCWire
internal import RTCMedia
internal import RTCPrimitives

/// A file being written by an FFmpeg muxer. Used by one thread.
///
/// Matroska gets a cluster a second, mp4 a fragment a second and at each key frame, so that what `flush` has written
/// plays whatever comes.
final class MuxedFile {
  /// The index of a track in the file.
  typealias Track = Int

  let sink: RecordingSink
  private let isFragmented: Bool
  /// The end of the sound written so far, of each track that has any.
  private var soundEnds: [Track: Int64] = [:]
  private let firstSound: Track
  /// Whether the bytes written so far may have been read, and with them the header, which says where each track begins.
  private var isFlushed = false
  private let context: UnsafeMutablePointer<AVFormatContext>
  private let output: UnsafeMutablePointer<AVIOContext>
  private let packet: UnsafeMutablePointer<AVPacket>

  /// Writes the header.
  /// - Parameters:
  ///   - pictures: the first tracks, with the names of whose they are.
  ///   - sounds: the names of the tracks behind them.
  init(
    _ sink: RecordingSink, as container: RecordingContainer, pictures: [(RecordedPictures, name: String?)],
    sounds: [String?]
  ) throws(FFmpegError) {
    var made: UnsafeMutablePointer<AVFormatContext>?
    try FFmpegError.check(
      avformat_alloc_output_context2(&made, nil, container.muxer, nil), "avformat_alloc_output_context2")
    guard let context = made, let packet = av_packet_alloc(), let output = sink.makeOutput() else {
      fatalError("no memory for the header of a recording")
    }
    isFragmented = container == .mp4
    firstSound = pictures.count
    (self.sink, self.context, self.output, self.packet) = (sink, context, output, packet)
    context.pointee.pb = output
    context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    context.pointee.flush_packets = 0
    for (header, name) in pictures { try addPictures(header, container, name) }
    for name in sounds { try addSound(name) }
    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    if isFragmented {
      // A track that begins late begins late: the header, which waits for the first fragment, says when.
      av_dict_set(&options, "movflags", "empty_moov+delay_moov+default_base_moof+frag_keyframe", 0)
    } else {
      av_dict_set(&options, "cluster_time_limit", "1000", 0)
    }
    try FFmpegError.check(avformat_write_header(context, &options), "avformat_write_header")
  }

  deinit {
    var packet: UnsafeMutablePointer<AVPacket>? = packet
    av_packet_free(&packet)
    avformat_free_context(context)
    RecordingSink.free(output)
  }

  /// One packet; its data is copied. `time` and `duration` are in nanoseconds, `time` grows within a track.
  func write(_ data: [UInt8], to track: Track, time: Int64, duration: Int64, isKeyFrame: Bool) throws(FFmpegError) {
    if track >= firstSound {
      if isFragmented { try fillSilence(on: track, to: time) }
      soundEnds[track] = time + duration
    }
    try put(data, to: track, time: time, duration: duration, isKeyFrame: isKeyFrame)
  }

  /// An mp4 track has no holes from one fragment to the next, and after the first it begins at zero: silence that was not
  /// sent is written as such.
  private func fillSilence(on track: Track, to time: Int64) throws(FFmpegError) {
    let step: Int64 = 20_000_000
    guard var end = soundEnds[track] ?? (isFlushed ? 0 : nil) else { return }
    while end + step <= time {
      // 20 ms of nothing, stereo (RFC 6716 §3.1: CELT, full band, one frame).
      try put([0xFC, 0xFF, 0xFE], to: track, time: end, duration: step, isKeyFrame: true)
      end += step
    }
  }

  private func put(
    _ data: [UInt8], to track: Track, time: Int64, duration: Int64, isKeyFrame: Bool
  ) throws(FFmpegError) {
    try FFmpegError.check(av_new_packet(packet, Int32(clamping: data.count)), "av_new_packet")
    defer { av_packet_unref(packet) }
    if !data.isEmpty {
      data.withUnsafeBytes {
        UnsafeMutableRawPointer(packet.pointee.data).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
      }
    }
    let nanoseconds = AVRational(num: 1, den: 1_000_000_000)
    let base = context.pointee.streams[track]!.pointee.time_base
    packet.pointee.stream_index = Int32(track)
    packet.pointee.pts = av_rescale_q(time, nanoseconds, base)
    packet.pointee.dts = packet.pointee.pts
    packet.pointee.duration = av_rescale_q(duration, nanoseconds, base)
    packet.pointee.flags = isKeyFrame ? AV_PKT_FLAG_KEY : 0
    try FFmpegError.check(av_write_frame(context, packet), "av_write_frame")
  }

  /// The unit that times of `track` are rounded to, in nanoseconds.
  func tick(of track: Track) -> Int64 {
    let base = context.pointee.streams[track]!.pointee.time_base
    return (1_000_000_000 * Int64(base.num) + Int64(base.den) - 1) / Int64(base.den)
  }

  /// Ends the cluster or fragment and writes all there is.
  func flush() throws(FFmpegError) {
    try FFmpegError.check(av_write_frame(context, nil), "av_write_frame")
    avio_flush(output)
    guard sink.refusal == 0 else { throw FFmpegError(cffmpeg_error(sink.refusal), in: "write") }
    sink.markSafe()
    isFlushed = true
  }

  /// Writes what makes the file whole: its duration and its index.
  func finish() throws(FFmpegError) {
    try flush()
    try FFmpegError.check(av_write_trailer(context), "av_write_trailer")
    avio_flush(output)
    guard sink.refusal == 0 else { throw FFmpegError(cffmpeg_error(sink.refusal), in: "write") }
    sink.markSafe()
  }

  // MARK: - Tracks

  private func addPictures(
    _ pictures: RecordedPictures, _ container: RecordingContainer, _ name: String?
  ) throws(FFmpegError) {
    guard let stream = avformat_new_stream(context, nil) else {
      throw FFmpegError(cffmpeg_error(ENOMEM), in: "avformat_new_stream")
    }
    Self.set(name, on: stream)
    stream.pointee.time_base = AVRational(num: 1, den: 90_000)
    let parameters = stream.pointee.codecpar!
    parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
    parameters.pointee.codec_id = pictures.codec.libraryID
    parameters.pointee.width = Int32(clamping: pictures.size.width)
    parameters.pointee.height = Int32(clamping: pictures.size.height)
    parameters.pointee.format = AV_PIX_FMT_YUV420P.rawValue
    parameters.pointee.profile = Int32(clamping: pictures.profile)
    try Self.set(pictures.headers, in: parameters)
    if let space = pictures.colorSpace, pictures.codec == .vp8 {
      let is709 = space.matrix == .bt709
      parameters.pointee.color_space = is709 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M
      parameters.pointee.color_primaries = is709 ? AVCOL_PRI_BT709 : AVCOL_PRI_SMPTE170M
      parameters.pointee.color_trc = is709 ? AVCOL_TRC_BT709 : AVCOL_TRC_SMPTE170M
      parameters.pointee.color_range = space.range == .full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
    }
    // Matroska's muxer has no field for a turn before FFmpeg 6.1, and leaves it out.
    if pictures.rotation != .none, let data = av_stream_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, 36) {
      data.withMemoryRebound(to: Int32.self, capacity: 9) {
        av_display_rotation_set($0, Double(pictures.rotation.rawValue))
      }
    }
  }

  private func addSound(_ name: String?) throws(FFmpegError) {
    guard let stream = avformat_new_stream(context, nil) else {
      throw FFmpegError(cffmpeg_error(ENOMEM), in: "avformat_new_stream")
    }
    Self.set(name, on: stream)
    stream.pointee.time_base = AVRational(num: 1, den: 48_000)
    let parameters = stream.pointee.codecpar!
    parameters.pointee.codec_type = AVMEDIA_TYPE_AUDIO
    parameters.pointee.codec_id = AV_CODEC_ID_OPUS
    parameters.pointee.sample_rate = 48_000
    parameters.pointee.frame_size = 960
    av_channel_layout_default(&parameters.pointee.ch_layout, 2)
    try Self.set(OpusHeader().bytes, in: parameters)
  }

  /// Matroska's name of a track is its title, mp4's that of its handler.
  private static func set(_ name: String?, on stream: UnsafeMutablePointer<AVStream>) {
    guard let name, !name.isEmpty else { return }
    for key in ["title", "handler_name"] { av_dict_set(&stream.pointee.metadata, key, name, 0) }
  }

  private static func set(
    _ headers: [UInt8], in parameters: UnsafeMutablePointer<AVCodecParameters>
  ) throws(FFmpegError) {
    guard !headers.isEmpty else { return }
    guard let memory = av_mallocz(headers.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else {
      throw FFmpegError(cffmpeg_error(ENOMEM), in: "av_mallocz")
    }
    headers.withUnsafeBytes { memory.copyMemory(from: $0.baseAddress!, byteCount: headers.count) }
    // Freed with the parameters.
    parameters.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
    parameters.pointee.extradata_size = Int32(clamping: headers.count)
  }
}

extension VideoCodec {
  fileprivate var libraryID: AVCodecID {
    switch self {
    case .vp8: AV_CODEC_ID_VP8
    case .vp9: AV_CODEC_ID_VP9
    case .h264: AV_CODEC_ID_H264
    case .av1: AV_CODEC_ID_AV1
    }
  }
}
