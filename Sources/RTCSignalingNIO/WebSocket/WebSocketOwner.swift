package import NIOCore
package import NIOWebSocket

/// Receives the events of a WebSocket connection, on its event loop.
package protocol WebSocketOwner: AnyObject, SendableMetatype {
  /// The handshake is done; from now on `connection` sends.
  func opened(_ connection: WebSocketConnection)
  /// A message in UTF-8.
  func received(text: ByteBuffer)
  func received(binary: ByteBuffer)
  /// A ping or a pong: the other end lives.
  func heard()
  /// The other end breaks the rules, and is not listened to any more. The connection stays for a last word: `close`.
  func broke(_ violation: WebSocketViolation)
  /// The other end says goodbye; the answer is sent.
  func closing(_ code: WebSocketErrorCode?)
  /// The connection is gone. The last call.
  func ended()
}
