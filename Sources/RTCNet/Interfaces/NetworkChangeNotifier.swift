import CLinux
package import RTCPrimitives

/// Notifies a loop that interfaces, addresses or routes of this machine may have changed; the listener must find out
/// the changes. Lives on the loop's thread, and is kept by the loop until `close` is called.
package final class NetworkChangeNotifier: LoopSource {
  private let number: Int32
  /// Nil when it is closed.
  private var file: FileDescriptor?
  private unowned let loop: EventLoop
  private var token: LoopSourceToken?
  private let onChange: (Timestamp) -> Void

  /// - Throws: `SystemError` if the kernel refuses.
  package init(on loop: EventLoop, onChange: @escaping (Timestamp) -> Void) throws(SystemError) {
    number = try SystemError.check(
      clinux_network_watch_open(), call: "socket", subject: "Watching the network interfaces")
    file = FileDescriptor(owning: number)
    self.loop = loop
    self.onChange = onChange
    token = try loop.watch(self)
  }

  package var descriptor: Int32 { number }

  /// Ends the notifications.
  package func close() {
    if let token { loop.unwatch(token) }
    token = nil
    file = nil
  }

  package func ready(_ readiness: Poller.Readiness, now: Timestamp) {
    clinux_network_watch_clear(number)
    onChange(now)
  }
}
