import RTCCaptureFile
package import RTCSignaling

/// One line of `--json`: what happened, and its fields. docs/json.md describes each event; tests compare the two.
package struct OutputEvent: Sendable {
  /// `event` in the object.
  package enum Name: String, CaseIterable, Sendable {
    // Of casts, calls and the hub.
    case listening, peer, ended, error, control, status
    // Of casts and calls.
    case stats, recorded, description
    // Of casts.
    case capture, source, limitation, viewers, pick, run
    // Events of casts and the hub.
    case mapped
    // Of calls.
    case registered, track, muted, chat, message, signaling
    // The hub.
    case stream
  }

  package let name: Name
  private let fields: [(String, JSONValue)]

  package init(_ name: Name, _ fields: [(String, JSONValue)]) {
    self.name = name
    self.fields = fields
  }

  package var object: JSONValue { .object([("event", .string(name.rawValue))] + fields) }

  /// On standard output.
  func print() { Terminal.print(object.text) }
}

/// Events of several commands.
extension OutputEvent {
  static func failed(_ failure: CastFailure) -> OutputEvent {
    OutputEvent(.error, [("message", .string(failure.sentence)), ("status", .count(failure.status.rawValue))])
  }

  /// The recording ended with an error; the rest continues.
  static func recordingFailed(_ sentence: String) -> OutputEvent {
    OutputEvent(.error, [("recording", .bool(true)), ("message", .string(sentence))])
  }

  static func recorded(_ progress: RecordingProgress) -> OutputEvent {
    recorded(progress.path, bytes: progress.safeBytes)
  }

  static func recorded(_ path: String, bytes: Int64) -> OutputEvent {
    OutputEvent(.recorded, [("path", .string(path)), ("bytes", .count(bytes))])
  }

  static func ended(_ reason: String) -> OutputEvent { OutputEvent(.ended, [("reason", .string(reason))]) }
}
