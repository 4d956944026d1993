import NIOCore
import NIOHTTP1
import RTCSignalingNIO
import Testing

/// The head of an answer to the WebSocket handshake.
@Suite struct HTTPResponseHeadReaderTests {
  private static let answer =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection:Upgrade \r\nX-Empty:\r\n\r\nrest"

  /// Gives `text` in pieces of `step` bytes.
  private func read(_ text: String, step: Int) throws -> (head: HTTPResponseHead?, rest: String) {
    var reader = HTTPResponseHeadReader()
    var all = ByteBuffer(string: text)
    var buffer = ByteBuffer()
    while var piece = all.readSlice(length: min(step, all.readableBytes)), piece.readableBytes > 0 {
      buffer.writeBuffer(&piece)
      if let head = try reader.read(&buffer) { return (head, String(buffer: buffer) + String(buffer: all)) }
    }
    return (nil, String(buffer: buffer))
  }

  @Test(arguments: [1, 2, 3, 7, 1000]) func `a head is read however it is cut, and what follows stays`(step: Int) throws
  {
    let (read, rest) = try read(Self.answer, step: step)
    let head = try #require(read)
    #expect(head.status.code == 101)
    #expect(head.headers["upgrade"] == ["websocket"])
    #expect(head.headers["connection"] == ["Upgrade"])
    #expect(head.headers["x-empty"] == [""])
    #expect(rest == "rest")
  }

  @Test func `a head follows one that says nothing`() throws {
    var reader = HTTPResponseHeadReader()
    var buffer = ByteBuffer(string: "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 404\r\n\r\n")
    #expect(try reader.read(&buffer)?.status.code == 103)
    let second = try reader.read(&buffer)
    #expect(second?.status.code == 404)
    #expect(second?.headers.isEmpty == true)
    #expect(try reader.read(&buffer) == nil)
  }

  @Test(arguments: [
    "SSH-2.0-OpenSSH\r\n", "HTTP/2 200\r\n", "HTTP/1.1\r\n", "HTTP/1.1 20\r\n", "HTTP/1.1 -10 x\r\n",
    "HTTP/1.1 200 OK\r\nno colon\r\n", "HTTP/1.1 200 OK\r\n: nameless\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n folded: c\r\n",
    "HTTP/1.1 200 OK\r\nA\u{7F}: b\r\n",
  ]) func `what is no head is refused`(text: String) {
    #expect(throws: HTTPParserError.self) { try read(text, step: 1000) }
  }

  @Test(arguments: [1000, 1 << 20]) func `a head has an end`(step: Int) {
    let most = HTTPResponseHeadReader.mostBytes
    #expect(throws: HTTPParserError.headerOverflow) { try read(String(repeating: "a", count: most + 1), step: step) }
    let lines = "HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: most / 6)
    #expect(throws: HTTPParserError.headerOverflow) { try read(lines, step: step) }
  }
}
