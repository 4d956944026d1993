import NIOCore
import NIOWebSocket
import RTCSignaling

/// The link that a socket reports to, with the socket's number.
struct NumberedLink {
  var link: HubLink
  var number: UInt64

  func hear(_ input: HubSession.Input) { link.hear(input, from: number) }
}

/// A client's end of a WebSocket connection to the hub. Lives on its channel's event loop and nowhere else.
final class HubSocket: WebSocketOwner {
  var link: NumberedLink?
  private var socket: WebSocketConnection?
  /// The hub's close code.
  private var code: UInt16?
  private let gone: EventLoopPromise<Void>

  /// When the connection has ended.
  var whenGone: EventLoopFuture<Void> { gone.futureResult }

  init(eventLoop: any EventLoop) { gone = eventLoop.makePromise() }

  func opened(_ connection: WebSocketConnection) { socket = connection }

  func received(text: ByteBuffer) { link?.hear(.received(Array(text.readableBytesView))) }

  func received(binary: ByteBuffer) { link?.hear(.heard) }

  func heard() { link?.hear(.heard) }

  func broke(_ violation: WebSocketViolation) { socket?.close(violation.code, reason: violation.problem) }

  func closing(_ code: WebSocketErrorCode?) { self.code = code.map { UInt16(webSocketErrorCode: $0) } }

  func ended() {
    socket = nil
    gone.succeed(())
    let link = link
    self.link = nil
    link?.hear(.closed(code: code))
  }

  func send(_ text: String) { socket?.send(.text, ByteBuffer(string: text)) }

  func ping() { socket?.send(.ping, ByteBuffer()) }

  /// Closes the socket after the messages sent before.
  func goodbye() { socket?.close(.normalClosure) }
}
