/// A certificate fingerprint (RFC 8122 §5).
public struct CertificateFingerprint: Hashable, Sendable {
  /// The hash function in lower case, such as `sha-256`.
  public var algorithm: String
  /// The digest; 32 bytes for SHA-256.
  public var bytes: [UInt8]

  /// Takes both values as they are; `isSHA256` says whether the fingerprint can be checked.
  public init(algorithm: String, bytes: [UInt8]) {
    self.algorithm = algorithm
    self.bytes = bytes
  }

  /// Nil unless there are 32 bytes.
  public init?(sha256 bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.init(algorithm: "sha-256", bytes: bytes)
  }

  /// True for a SHA-256 fingerprint of the right length, the only kind that is checked.
  public var isSHA256: Bool { algorithm == "sha-256" && bytes.count == 32 }

  /// The bytes as SDP carries them: `AA:BB:…`, upper case.
  public var digits: String {
    bytes.map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined(separator: ":")
  }
}
