internal import CFFmpeg
internal import RTCCodecFFmpeg
internal import RTCMedia
internal import RTCPrimitives

/// An open file: its container and the streams that are played. Used by one thread at a time.
///
/// Nothing but the file itself is ever opened: only the containers of `playedContainers` are read, none of which is a list of
/// other files, and references to other files or to the network are refused.
final class MediaFile {
  enum Step {
    case packet(UnsafeMutablePointer<AVPacket>, of: MediaStream)
    case end
    /// The file could not be read further.
    case failure(FileReadFailure)
  }

  let video: MediaStream?
  let audio: MediaStream?
  private let wantsAudio: Bool
  private let context: UnsafeMutablePointer<AVFormatContext>
  /// Outlives `context`.
  private let io: FileIO
  /// Damaged stretches in a row that were skipped.
  private var damaged = 0
  /// Read at the opening to see whether they are encrypted; they come again.
  private var peeked: [(UnsafeMutablePointer<AVPacket>, MediaStream)] = []

  /// - Parameters:
  ///   - ending: of the file's name, with its dot, as a hint; empty: none.
  ///   - wantsAudio: false leaves the sound out.
  init(_ bytes: any FileBytes, ending: String, wantsAudio: Bool) throws(FileFault) {
    Self.quietLibraries
    guard let io = FileIO(bytes) else { throw cffmpeg_missing() == nil ? .shortOfMemory : .withoutFFmpeg }
    var container: UnsafeMutablePointer<AVFormatContext>? = try Self.openContainer(io, ending)
    let context = container!
    do throws(FileFault) {
      if Self.isEncrypted(context) { throw .encrypted }
      video = Self.best(AVMEDIA_TYPE_VIDEO, in: context).map { MediaStream($0) }
      audio = wantsAudio ? Self.best(AVMEDIA_TYPE_AUDIO, in: context).map { MediaStream($0) } : nil
      guard video != nil || audio != nil else { throw Self.lack(of: context, wantsAudio) }
    } catch {
      avformat_close_input(&container)
      throw error
    }
    self.context = context
    self.wantsAudio = wantsAudio
    self.io = io
    let played = [video, audio].compactMap { $0?.index }
    for index in 0..<Int32(context.pointee.nb_streams) where !played.contains(index) {
      context.pointee.streams[Int(index)]!.pointee.discard = AVDISCARD_ALL
    }
    if peekFindsEncryption() { throw .encrypted }
  }

  deinit {
    forgetPeeked()
    var context: UnsafeMutablePointer<AVFormatContext>? = context
    avformat_close_input(&context)
  }

  /// The contents of the file.
  var contents: FileContents {
    FileContents(
      containerName: containerName, duration: duration, mayLeap: mayLeap, video: video?.contents,
      audio: audio?.contents,
      notices: notices)
  }

  /// The container's name as FFmpeg has it: `mov,mp4,m4a,3gp,3g2,mj2`, `matroska,webm` …
  private var containerName: String { String(cString: context.pointee.iformat.pointee.name) }

  /// The begin of the file's own timestamps, in nanoseconds: the earliest of the streams that are played. Nil when it
  /// is not known.
  var start: Int64? {
    [video, audio].compactMap { stream in stream.flatMap { $0.nanoseconds($0.stream.pointee.start_time) } }.min()
  }

  /// The duration of the file; nil when the container gives none, or an impossible one.
  private var duration: TimeDelta? {
    let duration = context.pointee.duration
    guard duration > 0, duration <= PacketTiming.latestTime / 1000 else { return nil }
    return .microseconds(duration)
  }

  private var notices: [FileContents.Notice] {
    var notices: [FileContents.Notice] = []
    if let name = video?.highDynamicRange { notices.append(.highDynamicRange(name)) }
    for index in 0..<Int(context.pointee.nb_streams) {
      let stream = context.pointee.streams[index]!.pointee
      let (type, id) = (stream.codecpar.pointee.codec_type, stream.codecpar.pointee.codec_id)
      let isCover = stream.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
      let isMissing = type == AVMEDIA_TYPE_VIDEO ? video == nil && !isCover : audio == nil && wantsAudio
      guard type == AVMEDIA_TYPE_VIDEO || type == AVMEDIA_TYPE_AUDIO, isMissing, avcodec_find_decoder(id) == nil
      else { continue }
      notices.append(
        .undecodable(isPicture: type == AVMEDIA_TYPE_VIDEO, codec: String(cString: avcodec_get_name(id))))
      break
    }
    return notices
  }

  /// Containers whose timestamps may leap (broadcasts).
  private var mayLeap: Bool { context.pointee.iformat.pointee.flags & AVFMT_TS_DISCONT != 0 }

  /// The next packet of a stream that is played; the caller owns it.
  func read() -> Step {
    guard peeked.isEmpty else {
      let (packet, stream) = peeked.removeFirst()
      return .packet(packet, of: stream)
    }
    return readOn()
  }

  private func readOn() -> Step {
    guard let packet = av_packet_alloc() else { return .failure(.shortOfMemory) }
    while true {
      let status = av_read_frame(context, packet)
      if status >= 0 {
        damaged = 0
        if let stream = [video, audio].lazy.compactMap({ $0 }).first(where: { $0.index == packet.pointee.stream_index }
        ),
          packet.pointee.size > 0, av_packet_make_refcounted(packet) >= 0
        {
          return .packet(packet, of: stream)
        }
        av_packet_unref(packet)
        continue
      }
      if status == cffmpeg_error_again || status == cffmpeg_error_invalid_data, damaged < 1000 {
        damaged += 1
        continue
      }
      var owned: UnsafeMutablePointer<AVPacket>? = packet
      av_packet_free(&owned)
      return status == cffmpeg_error(EIO) ? .failure(.unreadable) : .end
    }
  }

  /// Goes to the key frame at or before `time` (the file's own, in nanoseconds); false when the container cannot.
  func seek(to time: Int64) -> Bool {
    forgetPeeked()
    let main = video ?? audio
    guard let main else { return false }
    let units = main.units(time)
    return avformat_seek_file(context, main.index, .min, units, units, 0) >= 0
  }

  /// Goes to the first byte; false when the container cannot and the file must be opened anew.
  func rewind() -> Bool {
    forgetPeeked()
    // FFmpeg's Matroska reader leaves out sound that stands before the first key frame when it goes back.
    if isMatroska, video != nil, audio != nil { return false }
    let main = video ?? audio
    guard let main else { return false }
    // Broadcasts have no index: a search by time may end a group too late.
    if mayLeap, av_seek_frame(context, -1, 0, AVSEEK_FLAG_BYTE) >= 0 { return true }
    let start = main.stream.pointee.start_time
    let first = start == cffmpeg_no_timestamp ? 0 : start
    return avformat_seek_file(context, main.index, .min, first, first, 0) >= 0
      || av_seek_frame(context, -1, 0, AVSEEK_FLAG_BYTE) >= 0
  }

  /// The time of the next key frame after `time` in the container's index, in the file's own nanoseconds.
  func indexedKeyFrame(after time: Int64) -> Int64? {
    guard let video else { return nil }
    let units = video.units(time) + 1
    guard let entry = avformat_index_get_entry_from_timestamp(video.stream, units, 0) else { return nil }
    return video.nanoseconds(entry.pointee.timestamp)
  }

  private var isMatroska: Bool {
    guard let name = context.pointee.iformat?.pointee.name else { return false }
    return String(cString: name).hasPrefix("matroska")
  }

  /// Only the packets themselves tell that an mp4 is encrypted.
  private func peekFindsEncryption() -> Bool {
    while peeked.count < 32, case .packet(let packet, let stream) = readOn() {
      peeked.append((packet, stream))
      var size = 0
      if av_packet_get_side_data(packet, AV_PKT_DATA_ENCRYPTION_INFO, &size) != nil { return true }
      if stream.isPicture || video == nil { return false }
    }
    return false
  }

  private func forgetPeeked() {
    damaged = 0
    for (packet, _) in peeked {
      var owned: UnsafeMutablePointer<AVPacket>? = packet
      av_packet_free(&owned)
    }
    peeked.removeAll()
  }

  /// The containers that are played, by the names of FFmpeg's readers; `rtcast file --help` has them.
  private static let playedContainers = [
    "mov", "matroska", "webm", "mpegts", "mpeg", "avi", "flv", "nut", "yuv4mpegpipe", "ivf", "ogg", "wav", "flac",
    "mp3", "aac", "gif", "png_pipe", "jpeg_pipe", "mjpeg", "bmp_pipe", "webp_pipe",
    // Of one picture: the name that it is told is no pattern, and what it would open, `io_open` refuses.
    "image2",
  ]

  private static func openContainer(
    _ io: FileIO, _ ending: String
  ) throws(FileFault) -> UnsafeMutablePointer<AVFormatContext> {
    var context = avformat_alloc_context()
    guard let fresh = context else { throw .shortOfMemory }
    fresh.pointee.pb = io.context
    fresh.pointee.io_open = { _, _, _, _, _ in cffmpeg_error(EACCES) }
    // Readers of lists (concat, hls, dash, imf, vobsub, sdp) and of patterns open files by a context of their own, around
    // `io_open`; and what is not played need not be reached by anybody's file.
    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    guard av_dict_set(&options, "format_whitelist", playedContainers.joined(separator: ","), 0) >= 0,
      av_dict_set(&options, "protocol_whitelist", "none", 0) >= 0
    else {
      avformat_free_context(fresh)
      throw .shortOfMemory
    }
    // Only the ending is told, as a hint: some names would be taken for patterns of many files.
    var status = avformat_open_input(&context, "file" + ending, nil, &options)
    // A failure has freed the context.
    guard status >= 0, let opened = context else {
      throw status == cffmpeg_error(EINVAL) ? .otherContainer : .unknown
    }
    status = avformat_find_stream_info(opened, nil)
    guard status >= 0 else {
      avformat_close_input(&context)
      throw .unknown
    }
    return opened
  }

  /// Common Encryption (ISO 23001-7), WebM encryption and the older protected sample entries.
  private static func isEncrypted(_ context: UnsafeMutablePointer<AVFormatContext>) -> Bool {
    (0..<Int(context.pointee.nb_streams)).contains { index in
      guard let stream = context.pointee.streams[index] else { return false }
      let tag = stream.pointee.codecpar.pointee.codec_tag
      if ["encv", "enca", "drmi", "drms"].contains(where: { Self.tag($0) == tag }) { return true }
      var size = 0
      return av_stream_get_side_data(stream, AV_PKT_DATA_ENCRYPTION_INIT_INFO, &size) != nil
    }
  }

  private static func tag(_ letters: String) -> UInt32 {
    letters.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The reason why none of the streams is played.
  private static func lack(of context: UnsafeMutablePointer<AVFormatContext>, _ wantsAudio: Bool) -> FileFault {
    for index in 0..<Int(context.pointee.nb_streams) {
      let parameters = context.pointee.streams[index]!.pointee.codecpar.pointee
      let type = parameters.codec_type
      guard type == AVMEDIA_TYPE_VIDEO || (wantsAudio && type == AVMEDIA_TYPE_AUDIO) else { continue }
      if parameters.codec_id != AV_CODEC_ID_NONE, avcodec_find_decoder(parameters.codec_id) == nil {
        return .undecodable(codec: String(cString: avcodec_get_name(parameters.codec_id)))
      }
    }
    return .nothingToPlay
  }

  /// The stream to play of a kind: one whose form is known, and no cover picture.
  private static func best(
    _ type: AVMediaType, in context: UnsafeMutablePointer<AVFormatContext>
  ) -> UnsafeMutablePointer<AVStream>? {
    func isPlayable(_ stream: UnsafeMutablePointer<AVStream>) -> Bool {
      let parameters = stream.pointee.codecpar.pointee
      guard parameters.codec_type == type, avcodec_find_decoder(parameters.codec_id) != nil else { return false }
      if type == AVMEDIA_TYPE_AUDIO { return parameters.sample_rate > 0 && parameters.ch_layout.nb_channels > 0 }
      return stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
        && parameters.width > 0 && parameters.height > 0
    }
    let index = av_find_best_stream(context, type, -1, -1, nil, 0)
    if index >= 0, let stream = context.pointee.streams[Int(index)], isPlayable(stream) { return stream }
    return (0..<Int(context.pointee.nb_streams)).lazy.compactMap { context.pointee.streams[$0] }.first(
      where: isPlayable)
  }

  /// The libraries write to standard error by default, which is the program's.
  private static let quietLibraries: Void = av_log_set_level(AV_LOG_QUIET)
}
