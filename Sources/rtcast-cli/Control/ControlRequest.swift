/// A control line and the way back for its answer.
package struct ControlRequest: Sendable {
  /// A line may be this long, in bytes.
  package static let longestLine = 64 * 1_024

  /// The command, or why the line is none.
  package let command: Result<ControlCommand, ControlError>
  private let respond: @Sendable (ControlReply) -> Void

  /// - Parameter respond: called once, by any thread.
  package init(
    _ command: Result<ControlCommand, ControlError>, respond: @escaping @Sendable (ControlReply) -> Void
  ) {
    self.command = command
    self.respond = respond
  }

  /// Reads a line.
  package init(_ line: LineSplitter.Line, respond: @escaping @Sendable (ControlReply) -> Void) {
    self.init(Self.command(in: line), respond: respond)
  }

  /// Answers whoever sent the line. Requests of one sender are answered in their order, each once.
  package func answer(_ reply: ControlReply) { respond(reply) }

  private static func command(in line: LineSplitter.Line) -> Result<ControlCommand, ControlError> {
    guard let bytes = line.bytes else {
      return .failure(ControlError("A control line may have \(longestLine / 1_024) KiB; this one is longer."))
    }
    do throws(ControlError) { return .success(try ControlCommand(parsing: bytes)) } catch { return .failure(error) }
  }
}
