import CLinux
import Glibc
package import RTCPrimitives
import Synchronization

/// Sleeps until a file descriptor is readable or a moment has come (epoll). Owned by one thread.
package struct Poller: ~Copyable, Sendable {
  /// The tokens of the descriptors that are readable.
  package struct Ready: Sendable {
    var bits: UInt64 = 0
    /// True when no watched descriptor is readable.
    package var isEmpty: Bool { bits == 0 }
    /// True when the descriptor watched under this token, 0…63, is readable.
    package func contains(_ token: Int) -> Bool { bits & 1 << UInt64(token) != 0 }
  }

  private let descriptor: FileDescriptor
  private let hasNanoseconds: Atomic<Bool>

  /// Watches nothing yet; throws when the kernel makes no queue, as for want of file descriptors.
  package init() throws(SystemError) { try self.init(nanoseconds: true) }

  /// - Parameter nanoseconds: false waits in whole milliseconds, as kernels before 5.11 must.
  package init(nanoseconds: Bool) throws(SystemError) {
    descriptor = FileDescriptor(
      owning: try SystemError.check(clinux_epoll_create(), call: "epoll_create1", subject: "An event queue"))
    hasNanoseconds = Atomic(nanoseconds)
  }

  /// Readable when a watched descriptor is.
  package var number: Int32 { descriptor.number }

  /// Watches `file`, which must stay open until it is removed, under a `token` in 0...63.
  package func add(_ file: Int32, token: Int) throws(SystemError) {
    precondition((0..<64).contains(token), "Poller: tokens are 0...63")
    try SystemError.check(
      clinux_epoll_add(descriptor.number, file, UInt32(token)), call: "epoll_ctl", subject: "Watching a file descriptor"
    )
  }

  /// Watches `file` no longer.
  package func remove(_ file: Int32) { _ = clinux_epoll_remove(descriptor.number, file) }

  /// Sleeps until a watched descriptor is readable, `deadline` has come, or a signal has interrupted the wait.
  /// `distantFuture` waits for ever, a moment past only looks.
  package func wait(until deadline: Timestamp) -> Ready {
    var ready = Ready()
    let forever = deadline == .distantFuture
    let time = forever ? -1 : deadline == .zero ? 0 : max(0, (deadline - MonotonicClock.now()).nanoseconds)
    if hasNanoseconds.load(ordering: .relaxed) {
      let result = unsafe clinux_epoll_wait_ns(descriptor.number, time, &ready.bits)
      guard result == -ENOSYS else { return ready }
      hasNanoseconds.store(false, ordering: .relaxed)
    }
    // Rounded up, so as not to wake before the deadline.
    let milliseconds = forever ? -1 : Int32(clamping: time / 1_000_000 + (time % 1_000_000 == 0 ? 0 : 1))
    _ = unsafe clinux_epoll_wait_ms(descriptor.number, milliseconds, &ready.bits)
    return ready
  }
}
