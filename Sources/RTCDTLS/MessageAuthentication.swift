import COpenSSL

/// Hashes for secrets and pages of our own, by OpenSSL.
package enum MessageAuthentication {
  /// HMAC-SHA-256 (RFC 2104, FIPS 198-1) of `message`: 32 bytes.
  /// - Parameter key: not empty.
  /// - Throws: when OpenSSL has no memory for it.
  package static func hmacSHA256(key: [UInt8], _ message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var count = 0
    let made = unsafe EVP_Q_mac(
      nil, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count, &digest, digest.count, &count)
    guard unsafe made != nil, count == digest.count else { throw .take() }
    return digest
  }

  /// SHA-256 (FIPS 180-4): 32 bytes, which are zero if OpenSSL has no memory for it.
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    let isMade = unsafe EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha256(), nil) == 1
    return isMade ? digest : [UInt8](repeating: 0, count: 32)
  }
}
