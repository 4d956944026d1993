import ArgumentParser
import Logging
import RTCCaptureFile
import RTCIsolation

/// What `rtcast file` starts: a process in which one file is read and decoded.
struct FileHostCommand: ParsableCommand {
  static let name = "file-host"

  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Read a file for another rtcast.", shouldDisplay: false)

  /// Reached where a person types it: see `Rtcast.statusOfDecoderHost`.
  func run() throws {
    Terminal.complain("`rtcast \(Self.name)` is started by rtcast itself; to cast a file, use `rtcast file`.")
    throw ExitStatus.usage.code
  }
}

extension FileHosts {
  /// Processes of this program that read files; nil, after a line of the log, where this process is not confined: then files are
  /// read in it.
  static func rtcast(_ logger: Logger) -> FileHosts? {
    guard Launcher.current != nil else {
      logger.info("rtcast is not confined, so files are read and decoded in its own process.")
      return nil
    }
    return FileHosts(
      program: ChildProgram(executable: "/proc/self/exe", arguments: [FileHostCommand.name]),
      report: { logger.warning("\($0)") })
  }
}
