/// A report of the supervisor's process to the program.
package enum RunReport: Hashable, Sendable {
  /// The display accepts connections at this number. The sound may have failed.
  case ready(display: String, hasSound: Bool)
  /// The display did not start. The error number tells why its program could not be started; 0: it was started, and
  /// ended or never became ready.
  case displayFailed(error: Int32)
  case commandStarted
  case commandNotStarted(error: Int32)
  /// How the command ended, as `waitpid` says it.
  case commandEnded(status: Int32)
  case displayEnded
  case soundEnded
  case windowManagerEnded

  /// The report as a message: words, of which the first says the kind.
  package var text: String {
    switch self {
    case .ready(let display, let hasSound): "ready \(display) \(hasSound ? "sound" : "silence")"
    case .displayFailed(let error): "display-failed \(error)"
    case .commandStarted: "started"
    case .commandNotStarted(let error): "not-started \(error)"
    case .commandEnded(let status): "ended \(status)"
    case .displayEnded: "display-ended"
    case .soundEnded: "sound-ended"
    case .windowManagerEnded: "window-manager-ended"
    }
  }

  /// Nil if the message is no report.
  package init?(text: String) {
    let words = text.split(separator: " ").map(String.init)
    let number = words.dropFirst().first.flatMap { Int32($0) }
    switch (words.first, number) {
    case ("ready", _) where words.count == 3: self = .ready(display: words[1], hasSound: words[2] == "sound")
    case ("display-failed", let error?): self = .displayFailed(error: error)
    case ("started", _): self = .commandStarted
    case ("not-started", let error?): self = .commandNotStarted(error: error)
    case ("ended", let status?): self = .commandEnded(status: status)
    case ("display-ended", _): self = .displayEnded
    case ("sound-ended", _): self = .soundEnded
    case ("window-manager-ended", _): self = .windowManagerEnded
    default: return nil
    }
  }
}

/// A request of the program to the supervisor's process. What can be started is fixed before.
enum RunRequest: Hashable, Sendable {
  case startCommand
  case stop(signal: Int32, isTyped: Bool)
  case finish

  var text: String {
    switch self {
    case .startCommand: "start"
    case .stop(let signal, let isTyped): "stop \(signal) \(isTyped ? "typed" : "sent")"
    case .finish: "finish"
    }
  }

  init?(text: String) {
    let words = text.split(separator: " ").map(String.init)
    switch words.first {
    case "start": self = .startCommand
    case "stop":
      // Nothing but signals that end programs.
      guard words.count == 3, let signal = Int32(words[1]), [1, 2, 3, 15].contains(signal) else { return nil }
      self = .stop(signal: signal, isTyped: words[2] == "typed")
    case "finish": self = .finish
    default: return nil
    }
  }
}
