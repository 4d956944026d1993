import ArgumentParser
import RTCCaptureFile

/// The duration of a command and its output: the same for all commands that keep running.
struct RunOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Stop after this many seconds.", valueName: "seconds"), transform: { try Self.duration($0) })
  var duration: Double?

  @Flag(
    help: "Print one JSON object per line on standard output, and nothing else; docs/json.md describes the objects.")
  var json = false

  @Flag(name: [.short, .long], help: "Log more to standard error; repeat for even more.")
  var verbose: Int

  @OptionGroup var sandbox: SandboxOptions

  private static func duration(_ text: String) throws -> Double {
    guard let value = Double(text), value > 0, value <= 100_000_000 else {
      throw ValidationError("--duration takes seconds, above 0 and up to 100000000.")
    }
    return value
  }
}

/// `--record`, which casts, calls and `watch` share.
struct RecordOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Record into this new .mkv, .webm or .mp4 file, without encoding again: a cast records what it sends; `call`, "
        + "`watch` and a cast with --to NAME record what they receive.", valueName: "file"))
  var record: String?

  @Option(
    help: ArgumentHelp(
      "Cut the recording into files of this length, such as 90s, 10m or 1h: NAME-0001.webm and so on. Each begins with a "
        + "key frame and plays alone. (default: one file)", valueName: "time"),
    transform: { try SegmentLength(parsing: $0) })
  var segment: SegmentLength?

  @Option(
    help: ArgumentHelp(
      "Keep this many of the newest files of --segment and remove older ones, also those of earlier recordings with the "
        + "same name. (default: all)", valueName: "n"))
  var keep: Int?

  func validate() throws {
    if segment != nil, record == nil {
      throw ValidationError("--segment cuts a recording into files; name the recording with --record.")
    }
    if keep != nil, segment == nil {
      throw ValidationError("--keep is for recordings in several files; give their length with --segment.")
    }
    if let keep, !(1...100_000).contains(keep) {
      throw ValidationError("--keep takes the number of files to keep, from 1 to 100000.")
    }
  }

  /// Nil: the recording is one file.
  var segments: RecordingSegments? { segment.map { RecordingSegments(duration: $0.duration, keep: keep) } }
}

/// `--rtc-log`, which casts and calls share.
struct RateLogOptions: ParsableArguments {
  @Option(
    name: .customLong("rtc-log"),
    help: ArgumentHelp(
      "Write every feedback and every decision behind the bitrate of each viewer into this file, as JSON lines. "
        + "`rtcast rtc-log` draws it.", valueName: "file"))
  var path: String?
}
