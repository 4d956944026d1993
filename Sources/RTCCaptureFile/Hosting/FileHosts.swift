internal import Glibc
package import RTCIsolation
internal import RTCMedia
internal import RTCNet
package import RTCPrimitives

/// Starts the processes in which files are demuxed and decoded. Any thread.
package final class FileHosts: Sendable {
  /// The longest waits for a process.
  package struct Patience: Sendable {
    /// The wait for its start, libraries included.
    package var start = TimeDelta.seconds(10)
    /// The wait for the next message.
    package var silence = TimeDelta.seconds(10)
    /// The wait for a whole request, while it asks for bytes: a seek in a long file may read much of it.
    package var request = TimeDelta.seconds(120)

    package init() {}
  }

  let program: ChildProgram
  let patience: Patience
  let report: @Sendable (String) -> Void

  /// - Parameters:
  ///   - program: one whose main function calls `FileHost.run`.
  ///   - report: told what a person is to know, in sentences.
  package init(
    program: ChildProgram, patience: Patience = Patience(), report: @escaping @Sendable (String) -> Void
  ) {
    self.program = program
    self.patience = patience
    self.report = report
  }

  /// Opens a file in a process of its own, or in this one where no process can be started.
  func open(path: String, wantsAudio: Bool) throws(CaptureError) -> any FileMedia {
    let bytes = try OpenFile(path: path)
    let ending = FileRefusal.ending(of: path)
    let child: ChildProcess
    do throws(SystemError) { child = try start() } catch {
      report("\(error) \(path) is decoded in the process of rtcast itself.")
      do throws(FileFault) { return try OwnFileMedia(bytes, ending: ending, wantsAudio: wantsAudio) } catch {
        throw FileRefusal.error(error, path, wantsAudio: wantsAudio)
      }
    }
    return try IsolatedFileMedia(
      child, file: IsolatedFileMedia.File(path: path, ending: ending, wantsAudio: wantsAudio, bytes: bytes), hosts: self
    )
  }

  func start() throws(SystemError) -> ChildProcess {
    try program.start(environment: IsolatedDecoders.environment, name: "The process that reads files")
  }
}
