import RTCPrimitives
import RTCSignaling
import Testing

/// The PROXY protocol at the beginning of a connection.
@Suite struct ProxyHeaderTests {
  private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10]
  private static let v4: [UInt8] = [203, 0, 113, 5, 192, 0, 2, 1, 0x12, 0x67, 0x01, 0xBB]

  private static func binary(_ command: UInt8 = 0x21, _ family: UInt8 = 0x11, _ block: [UInt8] = v4) -> [UInt8] {
    signature + [command, family, UInt8(block.count >> 8), UInt8(block.count & 255)] + block
  }

  private func read(_ bytes: [UInt8]) -> ProxyHeader.Reading { ProxyHeader.read(bytes.span) }
  private func read(_ text: String) -> ProxyHeader.Reading { read(Array(text.utf8)) }

  @Test func `the binary header says whose connection it is`() {
    let header = Self.binary()
    #expect(read(header + [1, 2, 3]) == .header(ProxyHeader(source: IPAddress("203.0.113.5"), length: 28)))
    let v6 = [UInt8](repeating: 0, count: 15) + [7] + [UInt8](repeating: 0, count: 20)
    #expect(read(Self.binary(0x21, 0x21, v6)) == .header(ProxyHeader(source: IPAddress("::7"), length: 52)))
    let mapped = [UInt8](repeating: 0, count: 10) + [255, 255, 192, 0, 2, 9] + [UInt8](repeating: 0, count: 20)
    #expect(read(Self.binary(0x21, 0x21, mapped)) == .header(ProxyHeader(source: IPAddress("192.0.2.9"), length: 52)))
    // What proxies add behind the addresses is passed over.
    let longer = Self.binary(0x21, 0x11, Self.v4 + [UInt8](repeating: 9, count: 500))
    #expect(read(longer) == .header(ProxyHeader(source: IPAddress("203.0.113.5"), length: 528)))
    for count in 0..<longer.count { #expect(read(Array(longer.prefix(count))) == .incomplete) }
  }

  @Test func `a proxy may speak for itself`() {
    #expect(read(Self.binary(0x20, 0x00, [])) == .header(ProxyHeader(source: nil, length: 16)))
    #expect(read(Self.binary(0x21, 0x31, Self.v4)) == .header(ProxyHeader(source: nil, length: 28)))
    #expect(read("PROXY UNKNOWN\r\nGET /") == .header(ProxyHeader(source: nil, length: 15)))
    #expect(read("PROXY UNKNOWN ffff::1 x\r\n") == .header(ProxyHeader(source: nil, length: 25)))
  }

  @Test func `the line of version 1 says the same`() {
    let line = "PROXY TCP4 203.0.113.5 192.0.2.1 4711 443\r\n"
    #expect(read(line + "GET") == .header(ProxyHeader(source: IPAddress("203.0.113.5"), length: line.utf8.count)))
    // By bytes: as a character, the end of a line is one.
    for count in 0..<line.utf8.count { #expect(read(Array(line.utf8.prefix(count))) == .incomplete) }
    let v6 = "PROXY TCP6 2001:db8::5 2001:db8::1 4711 443\r\n"
    #expect(read(v6) == .header(ProxyHeader(source: IPAddress("2001:db8::5"), length: v6.utf8.count)))
  }

  @Test func `what is no header is left to the client`() {
    for text in ["GET / HTTP/1.1\r\n", "P0", "\r\n\r\nGET", "PROXIES /", "\u{16}\u{3}\u{1}"] {
      #expect(read(text) == .absent, "\(text)")
    }
  }

  @Test(arguments: [
    "PROXY TCP4 203.0.113.5\r\n", "PROXY TCP4 203.0.113.5 192.0.2.1 4711 443\n", "PROXY TCP4 ::1 ::2 1 2\r\n",
    "PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 65536 2\r\n",
    "PROXY TCP4 1.2.3.4 1.2.3.4 +1 2\r\n",
    "PROXY  TCP4 1.2.3.4 1.2.3.4 1 2\r\n", "PROXY " + String(repeating: "x", count: 101),
  ]) func `a line that is none is refused`(line: String) {
    #expect(read(line) == .malformed)
  }

  @Test func `a binary header with false sizes is refused`() {
    #expect(read(Self.binary(0x11)) == .malformed)
    #expect(read(Self.binary(0x22)) == .malformed)
    #expect(read(Self.binary(0x21, 0x11, Array(Self.v4.dropLast()))) == .malformed)
    #expect(read(Self.binary(0x21, 0x21, Self.v4)) == .malformed)
    #expect(read(Self.signature + [0x21, 0x11, 0xFF, 0xFF]) == .malformed, "more than is kept")
  }
}
