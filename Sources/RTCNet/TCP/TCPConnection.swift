import CLinux
import Glibc
package import RTCPrimitives

/// Receives the events of a `TCPConnection`. All calls come on the loop's thread.
package protocol TCPConnectionDelegate: AnyObject {
  /// The connection is writable from now on.
  func connected(_ connection: TCPConnection, now: Timestamp)
  /// Some bytes of the stream have come; they are gone after the call.
  func received(_ bytes: Span<UInt8>, from connection: TCPConnection, now: Timestamp)
  /// The last call: the remote end has closed it (nil), or the network did.
  func ended(_ connection: TCPConnection, _ error: SystemError?, now: Timestamp)
}

/// One TCP connection, ours to a server or a remote peer's to us, with a bounded send queue. Never blocks. Lives on the
/// loop's thread, and is kept by the loop until it has ended or `close` is called.
package final class TCPConnection: LoopSource {
  private enum State {
    case connecting
    case open
    case closed
  }

  /// Bytes that may wait to be sent unless said otherwise: about 100 ms of 20 Mbit/s, as a UDP socket would hold them.
  package static let defaultQueueLimit = 256 * 1_024

  private let number: Int32
  /// Nil when it is closed.
  private var file: FileDescriptor?
  private unowned let loop: EventLoop
  private weak var delegate: (any TCPConnectionDelegate)?
  private var state: State
  private var token: LoopSourceToken?
  /// Bytes on their way to the kernel, from `queueStart` on.
  private var queue: [UInt8] = []
  private var queueStart = 0
  private let queueLimit: Int
  private var room: [UInt8]

  /// The far end.
  package let remote: SocketAddress

  /// Begins to connect; `delegate`, which is not retained, gets the result. Only on the loop.
  /// - Throws: `SystemError` if it is refused at once.
  package init(
    to remote: SocketAddress, on loop: EventLoop, queueLimit: Int = defaultQueueLimit,
    delegate: any TCPConnectionDelegate
  ) throws(SystemError) {
    let subject = "TCP to \(remote)"
    number = try SystemError.check(clinux_tcp_open(remote.ip.isV4 ? 0 : 1), call: "socket", subject: subject)
    file = FileDescriptor(owning: number)
    (self.remote, self.loop, self.queueLimit, self.delegate) = (remote, loop, queueLimit, delegate)
    state = .connecting
    room = [UInt8](repeating: 0, count: Self.readSize)
    var name = clinux_address(remote)
    let result = unsafe clinux_tcp_connect(number, &name)
    if result != -EINPROGRESS { try SystemError.check(result, call: "connect", subject: subject) }
    // An established connection is writable at once.
    token = try loop.watch(self, for: .writable)
  }

  /// Takes over an accepted connection. Only on the loop.
  init(
    accepted: consuming FileDescriptor, from remote: SocketAddress, on loop: EventLoop, queueLimit: Int
  ) throws(SystemError) {
    number = accepted.number
    file = .some(consume accepted)
    (self.remote, self.loop, self.queueLimit) = (remote, loop, queueLimit)
    state = .open
    room = [UInt8](repeating: 0, count: Self.readSize)
    token = try loop.watch(self)
  }

  /// Sets the delegate of an accepted connection; not retained.
  package func setDelegate(_ delegate: any TCPConnectionDelegate) { self.delegate = delegate }

  package var descriptor: Int32 { number }

  /// The address and port on this machine; nil before there is a connection.
  package var local: SocketAddress? {
    var name = clinux_address(high: 0, low: 0, scope: 0, port: 0, is_v6: 0)
    return unsafe clinux_udp_bound(number, &name) == 0 ? name.socketAddress : nil
  }

  // MARK: - Sending

  /// Sends `bytes`, or queues the part that the kernel does not take now.
  /// - Returns: false if they do not fit, or there is no connection: none of them is sent then.
  package func send(_ bytes: Span<UInt8>) -> Bool {
    guard case .open = state, queue.count - queueStart + bytes.count <= queueLimit else { return false }
    var start = 0
    if queue.count == queueStart {
      let sent = write(bytes)
      // The next read reports an error.
      start = max(0, sent)
      guard start < bytes.count else { return true }
      loop.change(token!, for: [.readable, .writable])
    }
    compactQueue()
    queue.append(bytes.extracting(start..<bytes.count))
    return true
  }

  /// Bytes that wait for the kernel.
  package var queuedBytes: Int { queue.count - queueStart }

  private func write(_ bytes: Span<UInt8>) -> Int {
    unsafe bytes.withUnsafeBytes { unsafe clinux_tcp_send(number, $0.baseAddress, $0.count) }
  }

  private func compactQueue() {
    guard queueStart > queueLimit / 2 || queueStart == queue.count else { return }
    queue.removeSubrange(..<queueStart)
    queueStart = 0
  }

  private func flush() {
    let sent = write(queue.span.extracting(queueStart..<queue.count))
    if sent > 0 { queueStart += sent }
    guard queueStart == queue.count, let token else { return }
    queue.removeAll(keepingCapacity: true)
    queueStart = 0
    loop.change(token, for: .readable)
  }

  /// Closes the connection without further calls of the delegate.
  package func close() {
    state = .closed
    if let token { loop.unwatch(token) }
    token = nil
    delegate = nil
    file = nil
  }

  // MARK: - LoopSource

  package func ready(_ readiness: Poller.Readiness, now: Timestamp) {
    switch state {
    case .connecting: finishConnecting(now)
    case .open:
      if readiness.contains(.writable), queuedBytes > 0 { flush() }
      if readiness.contains(.readable) { read(now) }
    case .closed: break
    }
  }

  private func finishConnecting(_ now: Timestamp) {
    let result = clinux_tcp_connected(number)
    guard result == 0 else {
      return end(SystemError(errno: -result, call: "connect", subject: "TCP to \(remote)"), now)
    }
    state = .open
    if let token { loop.change(token, for: .readable) }
    delegate?.connected(self, now: now)
  }

  private func read(_ now: Timestamp) {
    for _ in 0..<Self.readsPerTurn {
      guard case .open = state else { return }
      let count = unsafe room.withUnsafeMutableBytes {
        unsafe clinux_tcp_receive(number, $0.baseAddress, $0.count)
      }
      if count == -Int(EAGAIN) || count == -Int(EINTR) { return }
      guard count > 0 else {
        let error = count == 0 ? nil : SystemError(errno: Int32(-count), call: "recv", subject: "TCP to \(remote)")
        return end(error, now)
      }
      delegate?.received(room.span.extracting(0..<count), from: self, now: now)
      if count < room.count { return }
    }
  }

  private func end(_ error: SystemError?, _ now: Timestamp) {
    let delegate = delegate
    close()
    delegate?.ended(self, error, now: now)
  }

  private static let readSize = 16_384
  /// Then other sources have their turn.
  private static let readsPerTurn = 8
}
