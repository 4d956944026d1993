/// The SHA-256 digest of a certificate, as signalled in `a=fingerprint` (RFC 8122 §5).
public struct DTLSFingerprint: Hashable, Sendable, CustomStringConvertible {
  /// 32 bytes.
  public let bytes: [UInt8]

  /// Nil unless there are 32 bytes.
  public init?(sha256 bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  /// Parses 32 pairs of hexadecimal digits separated by colons, upper or lower case.
  public init?(_ text: some StringProtocol) {
    let pairs = text.split(separator: ":", omittingEmptySubsequences: false)
    guard pairs.count == 32 else { return nil }
    var bytes: [UInt8] = []
    for pair in pairs {
      guard pair.utf8.count == 2, !pair.utf8.contains(0x2B), let byte = UInt8(pair, radix: 16) else { return nil }
      bytes.append(byte)
    }
    self.bytes = bytes
  }

  /// The form SDP carries: `AA:BB:…`, upper case.
  public var description: String {
    bytes.map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined(separator: ":")
  }
}
