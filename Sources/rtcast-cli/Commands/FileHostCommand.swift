import ArgumentParser
import Logging
import RTCCaptureFile
import RTCIsolation

/// The command of the process that `rtcast file` starts to read and decode one file.
struct FileHostCommand: ParsableCommand {
  static let name = "file-host"

  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Read a file for another rtcast.", shouldDisplay: false)

  /// Explains the command to a user who types it. The process itself begins in `Rtcast.statusOfDecoderHost`.
  func run() throws {
    Terminal.complain("`rtcast \(Self.name)` is started by rtcast itself; to cast a file, use `rtcast file`.")
    throw ExitStatus.usage.code
  }
}

extension FileHosts {
  /// The processes of this program that read files. Nil, after a line of the log, if this process is not confined: then
  /// it reads files itself.
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
