import CLinux

/// A flag that one thread can sleep on and any thread can raise (an eventfd).
package final class WakeEvent: Sendable {
  private let number: Int32

  /// Makes a flag that is not raised; throws if the kernel refuses, as for lack of file descriptors.
  package init() throws(SystemError) {
    number = try SystemError.check(clinux_eventfd_create(), call: "eventfd", subject: "A wake-up event")
  }

  deinit { _ = FileDescriptor(owning: number) }

  /// Readable while raised: give it to a `Poller`, or to a poll of your own.
  package var descriptor: Int32 { number }

  /// Raises the flag. Any thread, costs one system call.
  package func signal() { _ = clinux_eventfd_signal(number) }

  /// Lowers the flag.
  package func clear() { _ = clinux_eventfd_clear(number) }
}
