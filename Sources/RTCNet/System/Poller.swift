import CLinux
import Glibc
package import RTCPrimitives
import Synchronization

/// Sleeps until a file descriptor is ready or a moment has come (epoll). Owned by one thread.
package struct Poller: ~Copyable, Sendable {
  /// The operations that a descriptor is watched for, or ready for. An error or a hang-up counts as both.
  package struct Readiness: OptionSet, Hashable, Sendable, BitwiseCopyable {
    /// Some of the bits of epoll.
    package let rawValue: UInt32
    /// Takes bits of epoll.
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    /// A read does not wait.
    package static let readable = Readiness(rawValue: UInt32(clinux_poll_readable))
    /// A write does not wait.
    package static let writable = Readiness(rawValue: UInt32(clinux_poll_writable))
  }

  /// The ready descriptors, by token; the next wait returns those that did not fit.
  package struct Ready: Sendable {
    fileprivate var events = InlineArray<32, UInt64>(repeating: 0)
    /// How many there are.
    package fileprivate(set) var count = 0

    /// True when no watched descriptor is ready.
    package var isEmpty: Bool { count == 0 }
    /// The ready descriptor at `index`, in 0..<count.
    package subscript(index: Int) -> (token: UInt32, readiness: Readiness) {
      precondition(index < count)
      let event = events[index]
      return (UInt32(truncatingIfNeeded: event), Readiness(rawValue: UInt32(event >> 32)))
    }
    /// True when the descriptor watched under this token is ready.
    package func contains(_ token: UInt32) -> Bool { (0..<count).contains { self[$0].token == token } }
  }

  private let descriptor: FileDescriptor
  private let hasNanoseconds: Atomic<Bool>

  /// Makes an empty poller; throws if the kernel refuses, as for lack of file descriptors.
  package init() throws(SystemError) { try self.init(nanoseconds: true) }

  /// - Parameter nanoseconds: false waits in whole milliseconds, as kernels before 5.11 must.
  package init(nanoseconds: Bool) throws(SystemError) {
    descriptor = FileDescriptor(
      owning: try SystemError.check(clinux_epoll_create(), call: "epoll_create1", subject: "An event queue"))
    hasNanoseconds = Atomic(nanoseconds)
  }

  /// Readable when a watched descriptor is ready.
  package var number: Int32 { descriptor.number }

  /// Watches `file`, which must stay open until it is removed.
  package func add(_ file: Int32, token: UInt32, for interest: Readiness = .readable) throws(SystemError) {
    try SystemError.check(
      clinux_epoll_add(descriptor.number, file, token, interest.rawValue), call: "epoll_ctl",
      subject: "Watching a file descriptor")
  }

  /// Watches `file` for something else from now on.
  package func change(_ file: Int32, token: UInt32, for interest: Readiness) throws(SystemError) {
    try SystemError.check(
      clinux_epoll_change(descriptor.number, file, token, interest.rawValue), call: "epoll_ctl",
      subject: "Watching a file descriptor")
  }

  /// Watches `file` no longer.
  package func remove(_ file: Int32) { _ = clinux_epoll_remove(descriptor.number, file) }

  /// Sleeps until a watched descriptor is ready, `deadline` has come, or a signal has interrupted the wait.
  /// `distantFuture` waits for ever, a moment past only looks.
  package func wait(until deadline: Timestamp) -> Ready {
    var ready = Ready()
    let forever = deadline == .distantFuture
    let time = forever ? -1 : deadline == .zero ? 0 : max(0, (deadline - MonotonicClock.now()).nanoseconds)
    var events = ready.events.mutableSpan
    if hasNanoseconds.load(ordering: .relaxed) {
      let result = unsafe events.withUnsafeMutableBufferPointer {
        unsafe clinux_epoll_wait_ns(descriptor.number, time, $0.baseAddress)
      }
      if result != -ENOSYS {
        ready.count = Int(max(0, result))
        return ready
      }
      hasNanoseconds.store(false, ordering: .relaxed)
    }
    // Rounded up, so as not to wake before the deadline.
    let milliseconds = forever ? -1 : Int32(clamping: time / 1_000_000 + (time % 1_000_000 == 0 ? 0 : 1))
    let result = unsafe events.withUnsafeMutableBufferPointer {
      unsafe clinux_epoll_wait_ms(descriptor.number, milliseconds, $0.baseAddress)
    }
    ready.count = Int(max(0, result))
    return ready
  }
}
