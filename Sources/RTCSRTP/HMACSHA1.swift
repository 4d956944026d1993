import COpenSSL

/// HMAC-SHA-1 (RFC 2104) with one key. The key's effect on SHA-1's state is computed once; each packet continues from a
/// copy.
struct HMACSHA1 {
  typealias Digest = InlineArray<20, UInt8>

  /// SHA-1 after the key's two blocks.
  private let inner: SHA_CTX
  private let outer: SHA_CTX

  /// - Parameter key: 64 bytes at most, a block of SHA-1.
  init(key: [UInt8]) {
    precondition(key.count <= 64, "HMACSHA1: a key of \(key.count) bytes")
    let block = key + [UInt8](repeating: 0, count: 64 - key.count)
    inner = Self.state(after: block.map { $0 ^ 0x36 })
    outer = Self.state(after: block.map { $0 ^ 0x5C })
  }

  /// The digest of `message` and `word`.
  /// - Parameter word: four more bytes, the most significant first; nil for none.
  func digest(of message: Span<UInt8>, followedBy word: UInt32?) -> Digest {
    var state = inner
    Self.update(&state, message)
    if let word {
      let bytes = word.bigEndian
      // Reads the four bytes of a local.
      unsafe withUnsafeBytes(of: bytes) { unsafe copenssl_sha1_update(&state, $0.baseAddress, $0.count) }
    }
    let digest = Self.finish(&state)
    state = outer
    Self.update(&state, digest.span)
    return Self.finish(&state)
  }

  private static func state(after block: [UInt8]) -> SHA_CTX {
    var state = SHA_CTX()
    unsafe copenssl_sha1_start(&state)
    update(&state, block.span)
    return state
  }

  private static func update(_ state: inout SHA_CTX, _ bytes: Span<UInt8>) {
    // Reads the span's bytes and keeps no pointer: the state holds copies.
    unsafe bytes.withUnsafeBytes { unsafe copenssl_sha1_update(&state, $0.baseAddress, $0.count) }
  }

  private static func finish(_ state: inout SHA_CTX) -> Digest {
    var digest = Digest(repeating: 0)
    var span = digest.mutableSpan
    // Writes 20 bytes, which is the digest's length.
    unsafe span.withUnsafeMutableBytes { unsafe copenssl_sha1_finish(&state, $0.baseAddress) }
    return digest
  }
}
