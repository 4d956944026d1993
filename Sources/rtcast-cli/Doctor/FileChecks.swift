import RTCCodecFFmpeg

/// FFmpeg's libraries, which are loaded when they are first needed.
enum FileChecks {
  static func run() -> [Check] {
    guard let missing = FFmpegLibraries.missing else {
      return [.works("FFmpeg", "files are played, casts recorded, and received H.264 is decoded")]
    }
    return [
      .lacks(
        "FFmpeg", "\(missing.printable): no files, no recordings, no received H.264",
        advice:
          "Install FFmpeg: \(Distribution.advice(for: .ffmpeg)). If it is installed, it is another version: use an rtcast "
          + "that was built for this distribution.")
    ]
  }
}
