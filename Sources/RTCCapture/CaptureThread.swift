import CLinux
import Dispatch
import Glibc
package import RTCPrimitives
import Synchronization

/// Reads the monotonic clock that capture timestamps are on.
package enum MonotonicClock {
  package static var now: Timestamp {
    Timestamp(nanoseconds: clinux_monotonic_nanoseconds())
  }
}

/// The thread of one capturer: started and stopped any number of times, from any thread, its own included. SIGPIPE is
/// blocked on it, so that a source that has gone is an error of the call that meets it.
package final class CaptureThread: Sendable {
  private let current = Mutex<CaptureRun?>(nil)

  package init() {}

  /// Runs `body` on a new thread; false when one is still running. `body` returns soon after `run.isStopped`.
  package func start(name: String, _ body: @escaping @Sendable (CaptureRun) -> Void) -> Bool {
    current.withLock { current in
      if let current, !current.isOver { return false }
      guard let run = CaptureRun(name: name) else { return false }
      run.launch(after: current, body)
      current = run
      return true
    }
  }

  /// Ends the run and waits for its thread, unless called on it: then it ends when the callback returns.
  package func stop() {
    // Kept as the current run, so that a second stop waits as well.
    current.withLock { $0 }?.stop()
  }

  /// Runs `body` on a thread that nobody stops or waits for; false when the system refuses one.
  package static func launch(name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    let thread = CaptureThread()
    return thread.start(name: name) { _ in
      body()
      // Without an owner the run would be stopped before it began.
      withExtendedLifetime(thread) {}
    }
  }

  deinit { current.withLock { $0?.requestStop() } }
}

/// One run of a capture thread: how the thread learns that it is to stop or look again.
package final class CaptureRun: Sendable {
  private let name: String
  private let wakeSet: WakeSet
  private let stopped = Atomic(false)
  private let over = Atomic(false)
  private let finished = DispatchGroup()
  private let thread = Atomic<UInt>(0)

  fileprivate init?(name: String) {
    guard let wakeSet = WakeSet() else { return nil }
    self.name = name
    self.wakeSet = wakeSet
  }

  /// The consumer must not be called any more.
  package var isStopped: Bool { stopped.load(ordering: .acquiring) }

  /// The source ended by itself: from here on the capturer may be started again, from a callback too.
  package func noteEnded() { over.store(true, ordering: .releasing) }

  fileprivate var isOver: Bool { over.load(ordering: .acquiring) || isStopped }

  /// From now on `wait` also returns when `descriptor` is readable. At most one in a run, which outlives it.
  package func watch(_ descriptor: Int32) { wakeSet.watch(descriptor) }

  /// Readable when a wake is pending or the watched descriptor is readable, for those who wait by `poll`. `wait` takes the
  /// wake back.
  package var wakeDescriptor: Int32 { wakeSet.descriptor }

  /// Makes `wait` return, now or the next time it is called. Any thread.
  package func wake() { wakeSet.signal() }

  /// Readable when `wait` would return at once: for a loop of another library's to poll instead of `wait`.
  package var descriptor: Int32 { wakeSet.epoll }

  /// Waits until `deadline` (nil: without end), a wake, or the watched descriptor is readable.
  package func wait(until deadline: Timestamp?) {
    wakeSet.wait(nanoseconds: deadline.map { max(0, ($0 - MonotonicClock.now).nanoseconds) } ?? -1)
  }

  fileprivate func requestStop() {
    stopped.store(true, ordering: .releasing)
    wakeSet.signal()
  }

  fileprivate func stop() {
    requestStop()
    if thread.load(ordering: .acquiring) != UInt(pthread_self()) { finished.wait() }
  }

  /// Waits for the run before, so that a consumer is never called from two threads. A stop must not wait for that: it
  /// may come from a callback of the run before.
  private func wait(for previous: CaptureRun?) {
    guard let previous else { return }
    while !isStopped, previous.finished.wait(timeout: .now() + .milliseconds(5)) == .timedOut {}
  }

  fileprivate func launch(after previous: CaptureRun?, _ body: @escaping @Sendable (CaptureRun) -> Void) {
    finished.enter()
    let start = ThreadStart { [self] in
      wait(for: previous)
      thread.store(UInt(pthread_self()), ordering: .releasing)
      unsafe clinux_thread_set_name(name)
      _ = clinux_sigpipe_block()
      if !isStopped { body(self) }
      over.store(true, ordering: .releasing)
      finished.leave()
    }
    var handle = pthread_t()
    let box = unsafe Unmanaged.passRetained(start).toOpaque()
    // The new thread takes over the retain.
    let status = unsafe pthread_create(
      &handle, nil,
      {
        unsafe Unmanaged<ThreadStart>.fromOpaque($0!).takeRetainedValue().body(); return nil
      }, box)
    precondition(status == 0, "The system refused a thread for capturing.")
    pthread_detach(handle)
  }
}

private final class ThreadStart: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// An epoll set of a wake-up descriptor and at most one more; both close with the last owner.
private final class WakeSet: Sendable {
  private static let wakeToken: UInt64 = 1
  let epoll: Int32
  private let event: Int32

  init?() {
    let epoll = clinux_epoll_create()
    let event = clinux_eventfd_create()
    guard epoll >= 0, event >= 0, clinux_epoll_add(epoll, event, 0) == 0 else {
      if epoll >= 0 { close(epoll) }
      if event >= 0 { close(event) }
      return nil
    }
    self.epoll = epoll
    self.event = event
  }

  deinit {
    close(event)
    close(epoll)
  }

  var descriptor: Int32 { epoll }

  func watch(_ descriptor: Int32) { _ = clinux_epoll_add(epoll, descriptor, 1) }

  /// A full counter is readable already.
  func signal() { _ = clinux_eventfd_signal(event) }

  /// Kernels before 5.11 wait in milliseconds: rounded up there.
  func wait(nanoseconds: Int64) {
    var tokens: UInt64 = 0
    var result = unsafe clinux_epoll_wait_ns(epoll, nanoseconds, &tokens)
    if result == -ENOSYS {
      let milliseconds = nanoseconds < 0 ? -1 : min((nanoseconds + 999_999) / 1_000_000, 1_000_000)
      result = unsafe clinux_epoll_wait_ms(epoll, Int32(milliseconds), &tokens)
    }
    if result > 0, tokens & Self.wakeToken != 0 { _ = clinux_eventfd_clear(event) }
  }
}
