import Glibc
import RTCCaptureFile
import RTCIsolation

/// Files that the command line names to be made: by the launcher where this process is confined.
enum NamedFile {
  /// - Parameter flags: the flags of `open`, without O_CREAT.
  /// - Returns: a descriptor, or the negated errno.
  static func create(_ path: String, _ flags: Int32, mode: mode_t) -> Int32 {
    if let launcher = Launcher.current { return launcher.create(path) }
    let file = open(path, flags | O_CREAT | O_CLOEXEC, mode)
    return file >= 0 ? file : -errno
  }
}

extension RecordingFiles {
  /// Made by the launcher where this process is confined.
  static var ofProgram: RecordingFiles {
    guard let launcher = Launcher.current else { return .direct }
    return RecordingFiles(
      create: { launcher.create($0) }, remove: { launcher.remove($0) }, newest: { launcher.newest(of: $0) })
  }
}

extension SandboxNeeds {
  /// `--record`.
  mutating func record(_ options: RecordOptions) {
    guard let path = options.record else { return }
    outputs.append(
      LauncherDuties.Output(
        path: path, flags: RecordingFiles.flags, mode: RecordingFiles.mode, isNumbered: true,
        isSeries: options.segments != nil))
  }

  /// `--audit`.
  mutating func audit(_ path: String?) {
    guard let path else { return }
    outputs.append(LauncherDuties.Output(path: path, flags: AuditFile.flags, mode: AuditFile.mode))
  }

  /// `--rtc-log`.
  mutating func logRates(_ path: String?) {
    guard let path else { return }
    outputs.append(LauncherDuties.Output(path: path, flags: RateLogFile.flags, mode: RateLogFile.mode))
  }
}
