package import RTCPrimitives

/// The beginning of a connection in the PROXY protocol, versions 1 and 2 of HAProxy: a proxy that passes bytes on as they are says
/// there whose connection it is.
package struct ProxyHeader: Sendable, Hashable {
  /// The result of reading a connection's first bytes.
  package enum Reading: Sendable, Hashable {
    /// More bytes are needed.
    case incomplete
    /// The bytes do not begin with a header.
    case absent
    case header(ProxyHeader)
    /// The header is malformed.
    case malformed
  }

  /// The client's address; nil where the proxy speaks for itself, or the address is of another kind than IP.
  package var source: IPAddress?
  /// The length of the header in bytes; the client's bytes follow.
  package var length: Int

  package init(source: IPAddress?, length: Int) { (self.source, self.length) = (source, length) }

  /// The first bytes of version 2. They are neither HTTP nor TLS.
  private static let signature: [UInt8] = [
    0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
  ]
  private static let word = Array("PROXY ".utf8)
  /// Bytes of the longest line of version 1.
  private static let longestLine = 107
  /// Bytes behind the first sixteen of version 2. Addresses take 36, and what proxies add of TLS some hundreds.
  private static let longestBlock = 2_048

  /// Reads the first bytes of a connection.
  package static func read(_ bytes: Span<UInt8>) -> Reading {
    if isPrefix(bytes, of: signature) { return bytes.count < 16 ? .incomplete : readBinary(bytes) }
    if isPrefix(bytes, of: word) { return bytes.count < word.count ? .incomplete : readLine(bytes) }
    return .absent
  }

  /// The bytes and the beginning are the same as far as both go.
  private static func isPrefix(_ bytes: Span<UInt8>, of beginning: [UInt8]) -> Bool {
    for index in 0..<min(bytes.count, beginning.count) where bytes[index] != beginning[index] { return false }
    return true
  }

  private static func readBinary(_ bytes: Span<UInt8>) -> Reading {
    let (command, family) = (bytes[12], bytes[13])
    let block = Int(bytes[14]) << 8 | Int(bytes[15])
    guard command >> 4 == 2, command & 15 <= 1, block <= longestBlock else { return .malformed }
    guard bytes.count >= 16 + block else { return .incomplete }
    // LOCAL: the proxy asks whether the server is there.
    guard command & 15 == 1 else { return .header(ProxyHeader(source: nil, length: 16 + block)) }
    var source: IPAddress?
    switch family >> 4 {
    case 1:
      guard block >= 12 else { return .malformed }
      source = .v4(UInt32(truncatingIfNeeded: number(bytes, at: 16, of: 4)))
    case 2:
      guard block >= 36 else { return .malformed }
      source = IPAddress.v6(high: number(bytes, at: 16, of: 8), low: number(bytes, at: 24, of: 8), scope: 0).unmapped
    default: break
    }
    return .header(ProxyHeader(source: source, length: 16 + block))
  }

  private static func number(_ bytes: Span<UInt8>, at start: Int, of count: Int) -> UInt64 {
    (start..<start + count).reduce(0) { $0 << 8 | UInt64(bytes[$1]) }
  }

  /// `PROXY TCP4 192.0.2.1 198.51.100.1 56324 443`, `PROXY TCP6 …` or `PROXY UNKNOWN …`, and an end of line.
  private static func readLine(_ bytes: Span<UInt8>) -> Reading {
    var line: [UInt8] = []
    for index in 0..<min(bytes.count, longestLine) {
      guard bytes[index] != 0x0A else {
        guard line.last == 0x0D, let text = String(validating: line.dropLast(), as: UTF8.self) else {
          return .malformed
        }
        return read(line: text, length: index + 1)
      }
      line.append(bytes[index])
    }
    return bytes.count < longestLine ? .incomplete : .malformed
  }

  private static func read(line: String, length: Int) -> Reading {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    if words.count >= 2, words[1] == "UNKNOWN" { return .header(ProxyHeader(source: nil, length: length)) }
    guard words.count == 6, let source = IPAddress(words[2]), let target = IPAddress(words[3]),
      source.isV4 == (words[1] == "TCP4"), target.isV4 == source.isV4, words[1] == "TCP4" || words[1] == "TCP6",
      words[4...].allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } && UInt16($0) != nil })
    else { return .malformed }
    return .header(ProxyHeader(source: source.unmapped, length: length))
  }
}
