package import RTCPrimitives

extension CertificateFingerprint {
  /// A code of two certificates for people to compare: the same on both sides of a connection. It consists of the first
  /// six bytes of each fingerprint, the smaller first, in hexadecimal digits: `3fa2-91bc-04de-77c0-aa12-9d3e`.
  ///
  /// An attacker between the two would have to try some 2⁴⁸ certificates for each side, while the connection is made,
  /// to give both sides the same code.
  /// - Returns: nil unless both are SHA-256.
  package func keyCode(with other: CertificateFingerprint) -> String? {
    guard isSHA256, other.isSHA256, bytes.count == 32, other.bytes.count == 32 else { return nil }
    let (first, second) =
      bytes.lexicographicallyPrecedes(other.bytes) ? (bytes, other.bytes) : (other.bytes, bytes)
    let digits = (first.prefix(6) + second.prefix(6)).map { byte in
      let text = String(byte, radix: 16)
      return byte < 16 ? "0" + text : text
    }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] + digits[$0 + 1] }.joined(separator: "-")
  }
}
