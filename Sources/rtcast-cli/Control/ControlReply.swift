/// The answer to a control line, as an event.
package struct ControlReply: Sendable {
  /// The command that was obeyed, or why none was.
  package var outcome: Result<ControlCommand, ControlError>

  package init(_ outcome: Result<ControlCommand, ControlError>) { self.outcome = outcome }

  /// `control` when it was obeyed, else `error`, like every other failure.
  package var event: OutputEvent {
    switch outcome {
    case .success(let command): OutputEvent(.control, [("ok", .bool(true)), ("command", .string(command.name))])
    case .failure(let error): OutputEvent(.error, [("control", .bool(true)), ("message", .string(error.sentence))])
    }
  }
}
