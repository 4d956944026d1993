package import NIOCore
package import NIOWebSocket

/// Assembles the frames of one side into messages, and checks what NIO's decoder does not (RFC 6455 §5): masks,
/// reserved bits and opcodes, the order of fragments, UTF-8, and the contents of close frames.
package struct WebSocketReader {
  /// The message or control frame that a frame has completed.
  package enum Event {
    /// A whole message.
    case text(ByteBuffer), binary(ByteBuffer)
    case ping(ByteBuffer)
    case pong
    /// Nil where the close frame gives no code.
    case close(WebSocketErrorCode?)
  }

  /// A message that is not whole yet.
  private struct Message {
    var isText: Bool
    var data = ByteBuffer()
    var frames = 0
    var utf8 = UTF8Progress()
  }

  /// Clients mask every frame, servers none (RFC 6455 §5.1).
  private let expectsMask: Bool
  private let messageBytes: Int
  private var message: Message?

  /// - Parameters:
  ///   - expectsMask: the other end is a client.
  ///   - messageBytes: how large a message may be.
  package init(expectsMask: Bool, messageBytes: Int) {
    self.expectsMask = expectsMask
    self.messageBytes = messageBytes
  }

  /// How many frames a message may come in: small ones cost more than their bytes.
  private var messageFrames: Int { max(1024, messageBytes / 32) }

  /// Nil while the message is incomplete. After a violation, read nothing more.
  package mutating func read(_ frame: WebSocketFrame) throws(WebSocketViolation) -> Event? {
    guard !frame.rsv1, !frame.rsv2, !frame.rsv3 else { throw .framing("a reserved bit is set") }
    guard (frame.maskKey != nil) == expectsMask else {
      throw .framing(expectsMask ? "a frame of a client is not masked" : "a frame of a server is masked")
    }
    switch frame.opcode {
    case .text, .binary:
      guard message == nil else { throw .framing("a message begins before the last one has ended") }
      message = Message(isText: frame.opcode == .text)
      return try add(frame)
    case .continuation: return try add(frame)
    case .ping: return .ping(frame.unmaskedData)
    case .pong: return .pong
    case .connectionClose: return .close(try Self.code(ofClose: frame.unmaskedData))
    default: throw .framing("the opcode is reserved")
    }
  }

  private mutating func add(_ frame: WebSocketFrame) throws(WebSocketViolation) -> Event? {
    guard var message = message.take() else { throw .framing("a message is continued that has not begun") }
    var data = frame.unmaskedData
    message.frames += 1
    guard message.data.readableBytes + data.readableBytes <= messageBytes, message.frames <= messageFrames else {
      throw .tooLarge(limit: messageBytes)
    }
    if message.isText {
      guard message.utf8.take(data.readableBytesView), !frame.fin || message.utf8.isComplete else {
        throw WebSocketViolation(code: .dataInconsistentWithMessage, problem: "the text is not UTF-8")
      }
    }
    // Most messages are one frame, and are not copied.
    if message.frames == 1, frame.fin { message.data = data } else { message.data.writeBuffer(&data) }
    guard frame.fin else {
      self.message = message
      return nil
    }
    return message.isText ? .text(message.data) : .binary(message.data)
  }

  /// RFC 6455 §5.5.1 and §7.4: nothing, or a code that may be sent, and a reason in UTF-8.
  private static func code(ofClose data: ByteBuffer) throws(WebSocketViolation) -> WebSocketErrorCode? {
    var data = data
    guard data.readableBytes > 0 else { return nil }
    guard let number = data.getInteger(at: data.readerIndex, as: UInt16.self), let code = data.readWebSocketErrorCode()
    else { throw .framing("a close frame has half a code") }
    // 1004 to 1006 and 1015 are never sent; 1012 to 1014 came after the RFC (IANA's registry).
    guard [1000...1003, 1007...1014, 3000...4999].contains(where: { $0.contains(number) }) else {
      throw .framing("a close frame has a code that is none")
    }
    var reason = UTF8Progress()
    guard reason.take(data.readableBytesView), reason.isComplete else {
      throw WebSocketViolation(code: .dataInconsistentWithMessage, problem: "the reason of a close frame is not UTF-8")
    }
    return code
  }
}

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
