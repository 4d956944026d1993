import CLinux
import Glibc
package import RTCPrimitives

/// The port of multicast DNS on one IP version, shared with other programs (RFC 6762 §15.1). Browsers answer to the
/// group only, so their answers arrive only there. Lives on the loop's thread, and is kept by the loop until `close` is
/// called.
package final class MDNSSocket: LoopSource {
  private let number: Int32
  /// Nil when it is closed.
  private var file: FileDescriptor?
  private unowned let loop: EventLoop
  private var token: LoopSourceToken?
  private let interfaces: [UInt32]
  private let isV6: Bool
  private let onMessage: (Span<UInt8>, Timestamp) -> Void
  private var room = [UInt8](repeating: 0, count: 9_000)

  /// - Parameters:
  ///   - interfaces: the links to ask and to listen on; those without multicast are left out.
  ///   - onMessage: takes each message, of whomever on those links.
  /// - Throws: `SystemError` when the port may not be had.
  package init(
    isV6: Bool, interfaces: [UInt32], on loop: EventLoop, onMessage: @escaping (Span<UInt8>, Timestamp) -> Void
  ) throws(SystemError) {
    let subject = "Multicast DNS on \(isV6 ? "IPv6" : "IPv4")"
    let number = try SystemError.check(
      clinux_multicast_open(isV6 ? 1 : 0, MDNSMessage.port), call: "bind", subject: subject)
    self.number = number
    file = FileDescriptor(owning: number)
    (self.loop, self.isV6, self.onMessage) = (loop, isV6, onMessage)
    self.interfaces = interfaces.filter { interface in
      var group = clinux_address(isV6 ? MDNSMessage.groupV6(interface: interface) : MDNSMessage.groupV4)
      return unsafe clinux_multicast_join(number, &group, interface) == 0
    }
    token = try loop.watch(self)
  }

  package var descriptor: Int32 { number }

  /// Sends a message to the group on every link.
  package func send(_ message: Span<UInt8>) {
    for interface in interfaces {
      var group = clinux_address(
        SocketAddress(
          ip: isV6 ? MDNSMessage.groupV6(interface: interface) : MDNSMessage.groupV4, port: MDNSMessage.port))
      _ = unsafe message.withUnsafeBytes {
        unsafe clinux_multicast_send(number, &group, interface, $0.baseAddress, $0.count)
      }
    }
  }

  /// Closes the socket.
  package func close() {
    if let token { loop.unwatch(token) }
    token = nil
    file = nil
  }

  package func ready(_ readiness: Poller.Readiness, now: Timestamp) {
    for _ in 0..<Self.messagesPerTurn {
      guard token != nil else { return }
      let count = unsafe room.withUnsafeMutableBytes { unsafe clinux_tcp_receive(number, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      onMessage(room.span.extracting(0..<count), now)
    }
  }

  private static let messagesPerTurn = 32
}
