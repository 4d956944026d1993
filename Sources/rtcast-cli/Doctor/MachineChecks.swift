import Glibc
import RTCCodecFFmpeg

/// Processor and memory.
enum MachineChecks {
  static func run() -> [Check] { [cores(), memory()] }

  private static func cores() -> Check {
    let count = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    return count > 1
      ? .works("Processor", "\(count) cores")
      : .lacks(
        "Processor", "one core", advice: "Use a low frame rate (--fps 5) and small pictures (--size 1280x720).")
  }

  private static func memory() -> Check {
    guard let available = kibibytes("MemAvailable:") else {
      return .lacks("Memory", "unknown", advice: "Mount /proc to let rtcast see its own figures.")
    }
    let found = "\(Figures.fixed(Double(available) / 1_048_576, 1)) GiB available"
    return available >= 131_072
      ? .works("Memory", found) : .lacks("Memory", found, advice: "Stop other programs; a cast takes about 100 MiB.")
  }

  /// A line of /proc/meminfo.
  private static func kibibytes(_ name: String) -> Int64? {
    ProcFile.text("/proc/meminfo")?.split(separator: "\n").first { $0.hasPrefix(name) }
      .flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int64($0) }
  }
}

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
