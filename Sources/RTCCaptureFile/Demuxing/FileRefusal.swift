internal import CFFmpeg
internal import Glibc
internal import RTCCodecFFmpeg
internal import RTCMedia

/// Why a file is not played, in one sentence each.
enum FileRefusal {
  /// What can be said before a byte is read.
  static func checkPlace(_ path: String) throws(CaptureError) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      switch errno {
      case ENOENT, ENOTDIR: throw .noSuchSource("There is no file \(path); check the name.")
      case EACCES: throw .notPermitted("You may not read \(path); ask its owner for leave.")
      default: throw .noSuchSource("\(path) cannot be looked at: \(String(cString: strerror(errno))).")
      }
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw .noSuchSource("\(path) is a folder; name a file in it.")
    default: throw .noSuchSource("\(path) is not a plain file; `rtcast pipe` reads pipes and sockets.")
    }
    guard status.st_size > 0 else { throw .noSuchSource("\(path) is empty; perhaps it was not copied completely.") }
    guard access(path, R_OK) == 0 else { throw .notPermitted("You may not read \(path); ask its owner for leave.") }
  }

  static func unreadable(_ path: String, _ error: FFmpegError) -> CaptureError {
    error.status == cffmpeg_error(EACCES)
      ? .notPermitted("You may not read \(path); ask its owner for leave.")
      : .noSuchSource("\(path) cannot be read: \(error).")
  }

  /// No container was recognised, or it breaks off.
  static func unknown(_ path: String, _ error: FFmpegError) -> CaptureError {
    beginsLikeMP4(path)
      ? .noSuchSource("\(path) begins like an mp4 but breaks off or is damaged; copy or record it again.")
      : .noSuchSource("\(path) holds no pictures or sound that can be recognised, or is damaged.")
  }

  /// A container that FFmpeg reads and that is not played here.
  static func otherContainer(_ path: String) -> CaptureError {
    .unsupportedFormat(
      "\(path) is a kind of file that is not played, such as a list of other files; `rtcast file --help` names the kinds that "
        + "are. Convert it with: ffmpeg -i FILE -c copy NEW.mkv")
  }

  static func encrypted(_ path: String) -> CaptureError {
    .unsupportedFormat("\(path) is encrypted (DRM) and cannot be played; take a copy without protection.")
  }

  static func withoutStreams(
    _ path: String, _ context: UnsafeMutablePointer<AVFormatContext>, _ wantsAudio: Bool
  ) -> CaptureError {
    for index in 0..<Int(context.pointee.nb_streams) {
      let parameters = context.pointee.streams[index]!.pointee.codecpar.pointee
      let type = parameters.codec_type
      guard type == AVMEDIA_TYPE_VIDEO || (wantsAudio && type == AVMEDIA_TYPE_AUDIO) else { continue }
      if parameters.codec_id != AV_CODEC_ID_NONE, avcodec_find_decoder(parameters.codec_id) == nil {
        let name = String(cString: avcodec_get_name(parameters.codec_id))
        return .unsupportedFormat("\(path) is coded as \(name), which the FFmpeg on this machine cannot decode.")
      }
    }
    if isAnimatedWebP(path) {
      return .unsupportedFormat(
        "\(path) is an animated WebP file, which FFmpeg does not decode; convert it to GIF or MP4 first.")
    }
    return .noSuchSource(
      wantsAudio
        ? "\(path) has neither pictures nor sound that can be played; perhaps it breaks off or is damaged."
        : "\(path) has no pictures that can be played, and its sound is not wanted.")
  }

  /// A container without one picture or sample that could be decoded.
  static func undecodable(_ path: String) -> CaptureError {
    .noSuchSource("Nothing in \(path) could be decoded; it is damaged or breaks off.")
  }

  /// Common Encryption (ISO 23001-7), WebM encryption and the older protected sample entries.
  static func isEncrypted(_ context: UnsafeMutablePointer<AVFormatContext>) -> Bool {
    (0..<Int(context.pointee.nb_streams)).contains { index in
      guard let stream = context.pointee.streams[index] else { return false }
      let tag = stream.pointee.codecpar.pointee.codec_tag
      if ["encv", "enca", "drmi", "drms"].contains(where: { Self.tag($0) == tag }) { return true }
      var size = 0
      return av_stream_get_side_data(stream, AV_PKT_DATA_ENCRYPTION_INIT_INFO, &size) != nil
    }
  }

  /// The path's ending with its dot when it is a plain one; else empty.
  static func ending(of path: String) -> String {
    guard let dot = path.lastIndex(of: ".") else { return "" }
    let ending = path[dot...].utf8.dropFirst()
    let isPlain = (1...8).contains(ending.count) && ending.allSatisfy { isalnum(Int32($0)) != 0 && $0 < 128 }
    return isPlain ? "." + String(path[path.index(after: dot)...]) : ""
  }

  private static func tag(_ letters: String) -> UInt32 {
    letters.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func beginsLikeMP4(_ path: String) -> Bool {
    let bytes = beginning(of: path, count: 8)
    return bytes.count == 8 && bytes[4...].elementsEqual("ftyp".utf8)
  }

  /// A WebP file whose extended header says that it is animated (RFC 9649 §2.7).
  private static func isAnimatedWebP(_ path: String) -> Bool {
    let bytes = beginning(of: path, count: 21)
    return bytes.count == 21 && bytes[..<4].elementsEqual("RIFF".utf8) && bytes[8..<16].elementsEqual("WEBPVP8X".utf8)
      && bytes[20] & 2 != 0
  }

  private static func beginning(of path: String, count: Int) -> [UInt8] {
    guard let file = fopen(path, "rb") else { return [] }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: count)
    bytes.removeLast(count - fread(&bytes, 1, count, file))
    return bytes
  }
}
