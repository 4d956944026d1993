import Synchronization

/// Work for the loop from any thread, first in, first out.
struct Mailbox: ~Copyable, Sendable {
  enum Job: Sendable {
    case closure(@Sendable () -> Void)
    case task(UnownedJob)
  }

  enum Receipt {
    /// Accepted; `isFirst` when the mailbox was empty, so that the loop may be asleep.
    case accepted(isFirst: Bool)
    /// Not accepted: the loop has ended.
    case closed(Job)
  }

  /// The loop's next action.
  enum Next { case sleep, poll, end }

  enum Phase { case open, stopping, closed }
  // Not private: Swift 6.3 then emits a broken module for the owner in another file.
  struct State {
    var jobs: [Job] = []
    var phase = Phase.open
  }
  private let state = Mutex(State())

  func append(_ job: Job) -> Receipt {
    state.withLock {
      guard $0.phase != .closed else { return .closed(job) }
      let isFirst = $0.jobs.isEmpty
      $0.jobs.append(job)
      return .accepted(isFirst: isFirst)
    }
  }

  /// Swaps the waiting jobs with `empty`.
  func take(into empty: inout [Job]) {
    state.withLock { swap(&$0.jobs, &empty) }
  }

  /// Has `next()` answer `.end` once the mailbox is empty.
  func stop() {
    state.withLock { if $0.phase == .open { $0.phase = .stopping } }
  }

  /// Closes the mailbox when it was stopped and is empty: all accepted work has run.
  func next() -> Next {
    state.withLock {
      guard $0.jobs.isEmpty else { return .poll }
      guard $0.phase != .open else { return .sleep }
      $0.phase = .closed
      return .end
    }
  }
}
