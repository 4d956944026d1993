import NIOCore
import NIOWebSocket
import RTCSignalingNIO
import Testing

@Suite struct WebSocketReaderTests {
  private static func frame(
    _ opcode: WebSocketOpcode, _ bytes: [UInt8] = [], fin: Bool = true, rsv1: Bool = false, masked: Bool = true
  ) -> WebSocketFrame {
    // A key of nothing leaves the bytes as they are.
    WebSocketFrame(
      fin: fin, rsv1: rsv1, opcode: opcode, maskKey: masked ? WebSocketMaskingKey([0, 0, 0, 0]) : nil,
      data: ByteBuffer(bytes: bytes))
  }

  /// The results of frames: texts, then the status of a violation, if there is one.
  private static func read(_ frames: [WebSocketFrame], messageBytes: Int = 100) -> ([String], UInt16?) {
    var reader = WebSocketReader(expectsMask: true, messageBytes: messageBytes)
    var texts: [String] = []
    for frame in frames {
      do throws(WebSocketViolation) {
        if case .text(let text) = try reader.read(frame) { texts.append(String(buffer: text)) }
      } catch {
        return (texts, UInt16(webSocketErrorCode: error.code))
      }
    }
    return (texts, nil)
  }

  @Test func `a message of many frames, cut inside a character, with a ping between, is one text`() {
    let euro = Array("1 €".utf8)
    let (texts, violation) = Self.read([
      Self.frame(.text, Array(euro[..<3]), fin: false), Self.frame(.continuation, fin: false), Self.frame(.ping),
      Self.frame(.continuation, Array(euro[3...])), Self.frame(.text, [0x61]),
    ])
    #expect(texts == ["1 €", "a"] && violation == nil)
  }

  @Test(arguments: [
    ([frame(.text, rsv1: true)], 1002), ([frame(.text, masked: false)], 1002), ([frame(.continuation)], 1002),
    ([frame(.text, fin: false), frame(.text)], 1002),
    ([frame(WebSocketOpcode(encodedWebSocketOpcode: 3)!)], 1002),
    ([frame(WebSocketOpcode(encodedWebSocketOpcode: 11)!)], 1002),
    ([frame(.connectionClose, [3])], 1002), ([frame(.connectionClose, [3, 237])], 1002),
    ([frame(.connectionClose, [19, 136])], 1002), ([frame(.connectionClose, [3, 232, 0xFF])], 1007),
    ([frame(.text, [0xC0, 0xAF])], 1007), ([frame(.text, [0xED, 0xA0, 0x80])], 1007),
    ([frame(.text, [0xF4, 0x90], fin: false)], 1007), ([frame(.text, [0xE2, 0x82])], 1007),
    ([frame(.binary, [UInt8](repeating: 0, count: 101))], 1009),
    (
      [
        frame(.text, [UInt8](repeating: 97, count: 60), fin: false),
        frame(.continuation, [UInt8](repeating: 97, count: 60)),
      ], 1009
    ),
  ]) func `what breaks RFC 6455 has its status`(frames: [WebSocketFrame], status: Int) {
    #expect(Self.read(frames).1 == UInt16(status))
  }

  @Test func `a message has a bounded number of frames`() {
    let empty = Array(repeating: Self.frame(.continuation, fin: false), count: 1024)
    #expect(Self.read([Self.frame(.text, fin: false)] + empty).1 == 1009)
  }

  @Test func `a client refuses what is masked`() {
    var reader = WebSocketReader(expectsMask: false, messageBytes: 100)
    #expect(throws: WebSocketViolation.self) { try reader.read(Self.frame(.ping)) }
    #expect(throws: Never.self) { try reader.read(Self.frame(.ping, masked: false)) }
  }
}
