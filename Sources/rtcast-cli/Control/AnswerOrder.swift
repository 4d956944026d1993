import Synchronization

/// The order of the answers to one sender: that of its lines, although some commands are carried out later than others.
package final class AnswerOrder: Sendable {
  private struct State {
    /// The number of the oldest line that has no answer.
    var oldest = 0
    var next = 0
    /// Answers that wait for older ones.
    var early: [Int: @Sendable () -> Void] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  /// The way back for the answer to the next line.
  /// - Parameter pass: takes the answer, when all older ones have been passed, by the thread that gives the last of these.
  package func respond(_ pass: @escaping @Sendable (ControlReply) -> Void) -> @Sendable (ControlReply) -> Void {
    let number = state.withLock { state in
      defer { state.next += 1 }
      return state.next
    }
    return { [self] reply in
      // Within the lock, so that no two threads pass answers in the wrong order.
      state.withLock { state in
        state.early[number] = { pass(reply) }
        while let passOldest = state.early.removeValue(forKey: state.oldest) {
          state.oldest += 1
          passOldest()
        }
      }
    }
  }
}
