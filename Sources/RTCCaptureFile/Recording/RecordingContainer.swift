internal import RTCMedia

/// A kind of file that recordings are written as.
enum RecordingContainer: String, CaseIterable {
  case matroska = "mkv"
  case webm
  case mp4

  /// FFmpeg's name of the muxer.
  var muxer: String {
    switch self {
    case .matroska: "matroska"
    case .webm: "webm"
    case .mp4: "mp4"
    }
  }

  /// By the file's extension.
  init(path: String) throws(RecordingError) {
    let name = path.split(separator: "/").last ?? ""
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count > 1, let last = parts.last, let container = Self(rawValue: last.lowercased()) else {
      throw .unknownContainer("\(path): recordings are written as .mkv, .webm or .mp4; end the name with one of these.")
    }
    self = container
  }

  /// Throws when files of this kind cannot hold `codec`.
  func check(_ codec: VideoCodec, path: String) throws(RecordingError) {
    switch (self, codec) {
    case (.webm, .h264):
      throw .unsupportedCodec(
        "\(path): a webm file cannot hold H.264; name the recording .mkv or .mp4, or cast with --codec vp8.")
    case (.mp4, .vp8):
      throw .unsupportedCodec("\(path): an mp4 file cannot hold VP8; name the recording .mkv or .webm.")
    default: break
    }
  }

  /// Whether files of this kind can hold `codec`.
  func holds(_ codec: VideoCodec) -> Bool {
    do throws(RecordingError) { try check(codec, path: "") } catch { return false }
    return true
  }

  /// Whether pictures of `codec` may change their size within a file of this kind.
  func allowsChangeOfSize(_ codec: VideoCodec) -> Bool {
    self != .mp4 && (codec == .vp8 || codec == .vp9)
  }
}
