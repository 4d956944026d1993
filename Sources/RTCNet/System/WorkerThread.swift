import Glibc
package import RTCPrimitives
import Synchronization

/// The thread of one capturer, player or recorder: started and stopped any number of times, from any thread, its own
/// included.
package final class WorkerThread: Sendable {
  private let current = Mutex<WorkerRun?>(nil)

  package init() {}

  deinit { current.withLock { $0?.requestStop() } }

  /// Runs `body` on a new thread, after that of the earlier run has ended. `body` returns soon after `run.isStopped`.
  /// - Parameter name: shown by `top -H`; the kernel keeps its first 15 bytes.
  /// - Returns: false if one is running; `body` is not called then.
  /// - Throws: if the system has no descriptor or thread left. Nothing has been started then.
  package func start(
    name: String, _ body: @escaping @Sendable (WorkerRun) -> Void
  ) throws(SystemError) -> Bool {
    try current.withLock { current throws(SystemError) in
      if let current, !current.isOver { return false }
      let run = try WorkerRun(after: current)
      _ = try NamedThread(name: name) { run.perform(body) }
      current = run
      return true
    }
  }

  /// Makes the thread look again, now or the next time it would wait.
  package func wake() { current.withLock { $0 }?.wake() }

  /// Ends the run and waits for its thread, unless called on it: then it ends when the callback returns.
  package func stop() {
    // Kept as the current run, so that a second stop waits as well.
    current.withLock { $0 }?.stop()
  }
}

/// One run of a worker thread: how the thread learns that it is to stop or look again.
package final class WorkerRun: Sendable {
  private enum Token {
    static let wake: UInt32 = 0
    static let watched: UInt32 = 1
  }

  private let poller: Poller
  private let wakeEvent: WakeEvent
  private let stopped = Atomic(false)
  private let over = Atomic(false)
  private let thread = Atomic<UInt>(0)
  /// True when the thread has ended.
  private let finished = Monitor(false)
  /// The run before, until it has ended.
  private let previous: Mutex<WorkerRun?>
  private let interruption = Mutex<(@Sendable () -> Void)?>(nil)

  fileprivate init(after previous: WorkerRun?) throws(SystemError) {
    poller = try Poller()
    wakeEvent = try WakeEvent()
    try poller.add(wakeEvent.descriptor, token: Token.wake)
    self.previous = Mutex(previous)
  }

  /// The consumer must not be called any more.
  package var isStopped: Bool { stopped.load(ordering: .acquiring) }

  /// The source ended by itself: from here on the worker may be started again, from a callback too.
  package func noteEnded() { over.store(true, ordering: .releasing) }

  fileprivate var isOver: Bool { over.load(ordering: .acquiring) || isStopped }

  /// From now on `wait` also returns when `descriptor` is readable. At most one in a run, which it outlives.
  /// - Throws: if the descriptor cannot be polled, such as that of a plain file.
  package func watch(_ descriptor: Int32) throws(SystemError) { try poller.add(descriptor, token: Token.watched) }

  /// Sets `interrupt`, which is called when the run is to stop, on the stopping thread; at once if it was stopped
  /// before. It must end any wait of the run's thread outside of `wait`, and may be called twice.
  package func onStop(_ interrupt: @escaping @Sendable () -> Void) {
    interruption.withLock { $0 = interrupt }
    if isStopped { interrupt() }
  }

  /// Makes `wait` return, now or the next time it is called. Any thread.
  package func wake() { wakeEvent.signal() }

  /// Readable when `wait` would return at once: for polling it together with others. `wait` resets a wake.
  package var descriptor: Int32 { poller.number }

  /// Waits until `deadline` (nil: without end), a wake, or the watched descriptor is readable. On the run's thread.
  package func wait(until deadline: Timestamp?) {
    let ready = poller.wait(until: deadline ?? .distantFuture)
    if ready.contains(Token.wake) { wakeEvent.clear() }
  }

  fileprivate func requestStop() {
    stopped.store(true, ordering: .releasing)
    wakeEvent.signal()
    interruption.withLock { $0 }?()
    // This run may be waiting for the one before.
    previous.withLock { $0 }?.finished.change { _ in }
  }

  fileprivate func stop() {
    requestStop()
    guard thread.load(ordering: .acquiring) != UInt(pthread_self()) else { return }
    _ = finished.wait(until: nil) { $0 ? true : nil }
  }

  fileprivate func perform(_ body: (WorkerRun) -> Void) {
    waitForPrevious()
    thread.store(UInt(pthread_self()), ordering: .releasing)
    if !isStopped { body(self) }
    interruption.withLock { $0 = nil }
    over.store(true, ordering: .releasing)
    finished.change { $0 = true }
  }

  /// So that a consumer is never called on two threads. A stop must not wait for that: it may come from a callback of
  /// the earlier run.
  private func waitForPrevious() {
    guard let run = previous.withLock({ $0 }) else { return }
    _ = run.finished.wait(until: nil) { $0 || isStopped ? true : nil }
    previous.withLock { $0 = nil }
  }
}
