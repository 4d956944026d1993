package import NIOWebSocket

/// What the remote end of a WebSocket connection did against RFC 6455.
package struct WebSocketViolation: Error {
  /// The status that the close frame gives for it (RFC 6455 §7.4.1).
  package var code: WebSocketErrorCode
  /// Half a sentence that says what is wrong.
  package var problem: String

  static func framing(_ problem: String) -> Self { Self(code: .protocolError, problem: problem) }

  /// Of a message with more than `limit` bytes, or in more frames than that is worth.
  static func tooLarge(limit: Int) -> Self {
    Self(code: .messageTooLarge, problem: "the message is larger than \(limit) bytes")
  }
}
