/// A child process without rights, as its parent has it, with its channel and the memory that it shares. It is not trusted: a
/// malformed message ends it. Used by one thread; shared pictures may be released on any.
package final class UntrustedChild {
  /// The reason why a process is gone.
  package enum Loss: Error, Hashable, Sendable {
    /// The process has ended by itself, with the reason in words.
    case gone(String)
    /// The process did not answer.
    case hung
    /// The process sent a malformed message.
    case nonsense
  }

  package var socket: MessageSocket { child.socket }
  package let segments: SharedSegments
  private let child: ChildProcess
  /// The end of the process; nil until the process was waited for.
  private var end: ChildEnd?

  /// Takes over a process that was started; ends it when this object goes.
  package init(_ child: ChildProcess, segments: SharedSegments) {
    self.child = child
    self.segments = segments
  }

  deinit { finish(within: 0) }

  /// Ends the process and returns how it was lost.
  /// - Parameter arrival: the reception in place of a message; nil for a malformed message.
  package func lost(_ arrival: MessageSocket.Reception?) -> Loss {
    switch arrival {
    case .end, .message:
      // It is about to end; its status says more than that its connection is closed.
      finish(within: 500)
      return .gone(end?.description ?? "is gone")
    case .silence:
      finish(within: 0)
      return .hung
    case nil:
      finish(within: 0)
      return .nonsense
    }
  }

  private func finish(within milliseconds: Int32) {
    guard end == nil else { return }
    child.socket.shutDown()
    end = child.end(within: milliseconds)
  }
}

extension UntrustedChild.Loss {
  /// The end of a sentence that begins with the process's name.
  package var words: String {
    switch self {
    case .gone(let cause): cause
    case .hung: "did not answer and was ended"
    case .nonsense: "sent nonsense, as if it had overwritten its memory, and was ended"
    }
  }
}
