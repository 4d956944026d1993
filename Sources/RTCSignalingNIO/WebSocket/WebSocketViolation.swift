package import NIOWebSocket

/// A violation of RFC 6455 by the remote side of a WebSocket connection.
package struct WebSocketViolation: Error {
  /// The status that the close frame gives for it (RFC 6455 §7.4.1).
  package var code: WebSocketErrorCode
  /// Half a sentence that gives the reason.
  package var problem: String

  static func framing(_ problem: String) -> Self { Self(code: .protocolError, problem: problem) }

  /// A message with more than `limit` bytes, or in too many frames.
  static func tooLarge(limit: Int) -> Self {
    Self(code: .messageTooLarge, problem: "the message is larger than \(limit) bytes")
  }
}
