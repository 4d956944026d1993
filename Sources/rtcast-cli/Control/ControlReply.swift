import RTCSignaling

/// The answer to a control line.
package struct ControlReply: Sendable {
  /// The event that a program gets: `control` when the command was carried out, the requested event, or `error`.
  package let event: OutputEvent
  /// The reason why no command was carried out, in a sentence; nil when it was.
  package let refusal: String?

  package init(_ outcome: Result<ControlCommand, ControlError>) {
    switch outcome {
    case .success(let command):
      self.init(OutputEvent(.control, [("ok", .bool(true)), ("command", .string(command.name))]))
    case .failure(let error):
      let fields: [(String, JSONValue)] = [("control", .bool(true)), ("message", .string(error.sentence))]
      self.init(OutputEvent(.error, fields), refusal: error.sentence)
    }
  }

  /// The answer to a command that asks for something.
  package init(_ event: OutputEvent) { self.init(event, refusal: nil) }

  private init(_ event: OutputEvent, refusal: String?) {
    self.event = event
    self.refusal = refusal
  }

  /// Prints the reply for a user who typed the command: the sentence of a refusal, or the requested event.
  func show() {
    if let refusal { return Terminal.complain(refusal) }
    for line in ControlText.lines(of: event) { Terminal.print(line) }
  }
}
