internal import Glibc
internal import RTCCodecFFmpeg
internal import RTCMedia

/// The reasons why a file is not played, in one sentence each.
enum FileRefusal {
  /// Checks the path before a byte is read: throws unless it is a plain file that may be read and is not empty.
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

  static func unreadable(_ path: String, _ number: Int32) -> CaptureError {
    number == EACCES
      ? .notPermitted("You may not read \(path); ask its owner for leave.")
      : .noSuchSource("\(path) cannot be read: \(String(cString: strerror(number))).")
  }

  /// The error for the file at `path`, with a sentence.
  static func error(_ fault: FileFault, _ path: String, wantsAudio: Bool) -> CaptureError {
    switch fault {
    case .unknown:
      return beginsLikeMP4(path)
        ? .noSuchSource("\(path) begins like an mp4 but breaks off or is damaged; copy or record it again.")
        : .noSuchSource("\(path) holds no pictures or sound that can be recognised, or is damaged.")
    case .otherContainer:
      return .unsupportedFormat(
        "\(path) is a kind of file that is not played, such as a list of other files; `rtcast file --help` names the kinds that "
          + "are. Convert it with: ffmpeg -i FILE -c copy NEW.mkv")
    case .encrypted:
      return .unsupportedFormat("\(path) is encrypted (DRM) and cannot be played; take a copy without protection.")
    case .undecodable(let codec):
      return .unsupportedFormat("\(path) is coded as \(codec), which the FFmpeg on this machine cannot decode.")
    case .nothingToPlay where isAnimatedWebP(path):
      return .unsupportedFormat(
        "\(path) is an animated WebP file, which FFmpeg does not decode; convert it to GIF or MP4 first.")
    case .nothingToPlay:
      return .noSuchSource(
        wantsAudio
          ? "\(path) has neither pictures nor sound that can be played; perhaps it breaks off or is damaged."
          : "\(path) has no pictures that can be played, and its sound is not wanted.")
    case .shortOfMemory: return .unavailable("Memory is short: \(path) was not opened.")
    case .withoutFFmpeg: return .noSuchSource("\(path) cannot be read: \(FFmpegError.missing).")
    }
  }

  /// A container without one picture or sample that could be decoded.
  static func undecodable(_ path: String) -> CaptureError {
    .noSuchSource("Nothing in \(path) could be decoded; it is damaged or breaks off.")
  }

  /// The path's ending with its dot when it is a plain one; else empty.
  static func ending(of path: String) -> String {
    guard let dot = path.lastIndex(of: ".") else { return "" }
    let ending = path[dot...].utf8.dropFirst()
    let isPlain = (1...8).contains(ending.count) && ending.allSatisfy { isalnum(Int32($0)) != 0 && $0 < 128 }
    return isPlain ? "." + String(path[path.index(after: dot)...]) : ""
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

/// A fault of a file, as its demuxer finds it.
package enum FileFault: Error, Hashable, Sendable {
  /// No container was recognised, or the file breaks off.
  case unknown
  /// A container that FFmpeg reads and that is not played here.
  case otherContainer
  case encrypted
  /// Nothing on this machine decodes the codec of that name.
  case undecodable(codec: String)
  case nothingToPlay
  case shortOfMemory
  /// FFmpeg's libraries are not there.
  case withoutFFmpeg
}
