import CLinux
import Glibc
package import RTCPrimitives

/// A TCP port of one IP version that takes connections. Never blocks. Lives on the loop's thread, and is kept by the loop until
/// `close` is called.
package final class TCPListener: LoopSource {
  private let number: Int32
  /// Nil when it is closed.
  private var file: FileDescriptor?
  private unowned let loop: EventLoop
  private var token: LoopSourceToken?
  private let onAccept: (TCPConnection, Timestamp) -> Void
  private let queueLimit: Int

  /// The local address.
  package let local: SocketAddress

  /// - Parameters:
  ///   - address: an unspecified IP address is every address of its version; port 0 is a free one.
  ///   - onAccept: takes each connection, which is the caller's to close.
  /// - Throws: `SystemError` when the port is taken or may not be had.
  package init(
    _ address: SocketAddress, on loop: EventLoop, queueLimit: Int = TCPConnection.defaultQueueLimit,
    onAccept: @escaping (TCPConnection, Timestamp) -> Void
  ) throws(SystemError) {
    let subject = "TCP port \(address.port) on \(address.ip)"
    number = try SystemError.check(clinux_tcp_open(address.ip.isV4 ? 0 : 1), call: "socket", subject: subject)
    file = FileDescriptor(owning: number)
    var name = clinux_address(address)
    try SystemError.check(
      unsafe clinux_tcp_listen(number, &name, Self.backlog), call: "bind", subject: subject)
    try SystemError.check(unsafe clinux_udp_bound(number, &name), call: "getsockname", subject: subject)
    local = name.socketAddress
    (self.loop, self.queueLimit, self.onAccept) = (loop, queueLimit, onAccept)
    token = try loop.watch(self)
  }

  package var descriptor: Int32 { number }

  /// Takes no more connections.
  package func close() {
    if let token { loop.unwatch(token) }
    token = nil
    file = nil
  }

  package func ready(_ readiness: Poller.Readiness, now: Timestamp) {
    for _ in 0..<Self.acceptsPerTurn {
      guard token != nil else { return }
      let accepted = clinux_tcp_accept(number)
      // Other errors concern one connection, or are temporary; the next connection is accepted at the next turn.
      guard accepted >= 0 else { return }
      let file = FileDescriptor(owning: accepted)
      var name = clinux_address(high: 0, low: 0, scope: 0, port: 0, is_v6: 0)
      guard unsafe clinux_tcp_remote(accepted, &name) == 0,
        let connection = try? TCPConnection(
          accepted: file, from: name.socketAddress, on: loop, queueLimit: queueLimit)
      else { continue }
      onAccept(connection, now)
    }
  }

  private static let backlog: Int32 = 64
  private static let acceptsPerTurn = 16
}
