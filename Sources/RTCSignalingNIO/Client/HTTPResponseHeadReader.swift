package import NIOCore
package import NIOHTTP1
import RTCSignaling

/// Reads the head of an HTTP/1.1 response incrementally (RFC 9112 §2 to §5). The bytes after the head stay unread.
package struct HTTPResponseHeadReader {
  /// The most bytes a head may have.
  package static let mostBytes = 16 * 1024

  private var head: HTTPResponseHead?
  private var bytes = 0
  /// Bytes at the front of the buffer that have no line feed: a server may send a line byte by byte.
  private var searched = 0

  /// Waits for the first byte of a head.
  package init() {}

  /// The next head, taken from the front of `buffer`; nil while it is not whole. Throws `HTTPParserError`.
  /// - Parameter buffer: the same each time, with more bytes at its end.
  package mutating func read(_ buffer: inout ByteBuffer) throws -> HTTPResponseHead? {
    while let end = buffer.readableBytesView.dropFirst(searched).firstIndex(of: UInt8(ascii: "\n")) {
      let length = end + 1 - buffer.readerIndex
      searched = 0
      try count(length)
      guard var line = buffer.readString(length: length - 1).map({ $0[...] }) else { return nil }
      _ = buffer.readInteger(as: UInt8.self)
      if line.utf8.last == UInt8(ascii: "\r") { line = line.dropLast() }
      if let head = try take(line) { return head }
    }
    searched = buffer.readableBytes
    guard bytes + searched <= Self.mostBytes else { throw HTTPParserError.headerOverflow }
    return nil
  }

  private mutating func count(_ more: Int) throws {
    bytes += more
    guard bytes <= Self.mostBytes else { throw HTTPParserError.headerOverflow }
  }

  /// Takes a line without its end; the head when that was its last.
  private mutating func take(_ line: Substring) throws -> HTTPResponseHead? {
    guard head != nil else {
      head = try Self.statusLine(line)
      return nil
    }
    guard line.isEmpty else {
      let (name, value) = try Self.field(line)
      head?.headers.add(name: name, value: value)
      return nil
    }
    defer { self = HTTPResponseHeadReader() }
    return head
  }

  /// `HTTP/1.1 101 Switching Protocols`; the reason may be missing.
  private static func statusLine(_ line: Substring) throws -> HTTPResponseHead {
    guard line.hasPrefix("HTTP/1.") else { throw HTTPParserError.invalidConstant }
    let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[1].utf8.count == 3, let code = Int(parts[1]), (100...999).contains(code) else {
      throw HTTPParserError.invalidStatus
    }
    return HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: code))
  }

  private static func field(_ line: Substring) throws -> (name: String, value: String) {
    guard let colon = line.firstIndex(of: ":"), colon > line.startIndex,
      line[..<colon].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { throw HTTPParserError.invalidHeaderToken }
    return (String(line[..<colon]), String(line[line.index(after: colon)...].trimmingBlanks()))
  }
}
