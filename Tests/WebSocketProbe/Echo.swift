import NIOCore
import NIOWebSocket
import RTCSignalingNIO

/// Sends every message back as it came, and closes as the hub and its client do. Lives on its channel's event loop.
final class Echo: WebSocketOwner {
  private var connection: WebSocketConnection?
  private let gone: EventLoopPromise<String>
  private var lastText = ""

  /// The last text, when the connection has ended.
  var whenGone: EventLoopFuture<String> { gone.futureResult }

  init(eventLoop: any EventLoop) { gone = eventLoop.makePromise() }

  func opened(_ connection: WebSocketConnection) { self.connection = connection }

  func received(text: ByteBuffer) {
    lastText = String(buffer: text)
    connection?.send(.text, text)
  }

  func received(binary: ByteBuffer) { connection?.send(.binary, binary) }

  func heard() {}

  func broke(_ violation: WebSocketViolation) { connection?.close(violation.code, reason: violation.problem) }

  func closing(_ code: WebSocketErrorCode?) {}

  func ended() {
    connection = nil
    gone.succeed(lastText)
  }
}
