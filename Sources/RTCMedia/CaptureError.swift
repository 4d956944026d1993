/// Why capturing could not start. Each carries a sentence for the person who asked for it.
public enum CaptureError: Error, Hashable, Sendable {
  /// The capturer is running for this or another consumer.
  case alreadyStarted
  /// No such display, window, monitor or file.
  case noSuchSource(String)
  /// The source is there but cannot be reached now (display refuses, shared memory missing …).
  case unavailable(String)
  /// The source cannot deliver the format asked for (region outside the screen, unsupported visual …).
  case unsupportedFormat(String)
  /// The system refuses access (a device's permissions, a display's authority).
  case notPermitted(String)

  /// A sentence for the user: the reason and the remedy.
  public var sentence: String {
    switch self {
    case .alreadyStarted: "This capturer is already running; stop it first."
    case .noSuchSource(let s), .unavailable(let s), .unsupportedFormat(let s), .notPermitted(let s): s
    }
  }
}

/// Why a source ended by itself.
public enum CaptureEnd: Hashable, Sendable {
  /// The source has nothing more: end of file, generator done.
  case finished
  /// The source went away: the display or window is gone. The sentence says which.
  case lost(String)
}
