/// The key of STUN's MESSAGE-INTEGRITY, HMAC-SHA1 (RFC 2104, RFC 8489 §9.1.1). The key's two hash blocks are worked in
/// once, so that a message costs only its own bytes.
public struct STUNIntegrityKey: Sendable {
  private var inner = SHA1()
  private var outer = SHA1()

  /// From a short-term credential's password (taken as it is: ICE passwords are plain ASCII, which OpaqueString keeps).
  public init(password: String) {
    let bytes = Array(password.utf8)
    self.init(bytes.span)
  }

  /// From a long-term credential: the MD5 of `username:realm:password` (RFC 8489 §9.2.2), each taken as it is.
  public init(username: Span<UInt8>, realm: Span<UInt8>, password: Span<UInt8>) {
    var hash = MD5()
    hash.update(username)
    hash.update(UInt8(ascii: ":"))
    hash.update(realm)
    hash.update(UInt8(ascii: ":"))
    hash.update(password)
    let digest = hash.finish()
    self.init(digest.span)
  }

  /// From raw key bytes.
  public init(_ key: Span<UInt8>) {
    var block = InlineArray<64, UInt8>(repeating: 0)
    if key.count > 64 {
      var hash = SHA1()
      hash.update(key)
      let digest = hash.finish()
      for i in digest.indices { block[i] = digest[i] }
    } else {
      for i in key.indices { block[i] = key[i] }
    }
    for i in block.indices {
      inner.update(block[i] ^ 0x36)
      outer.update(block[i] ^ 0x5C)
    }
  }

  /// HMAC-SHA1 of `bytes`.
  package func authenticate(_ bytes: Span<UInt8>) -> SHA1.Digest {
    var hash = inner
    hash.update(bytes)
    return seal(hash)
  }

  /// HMAC-SHA1 of a STUN message up to (not with) its MESSAGE-INTEGRITY attribute, which begins at `end`; the header's
  /// length field is taken as if the message ended with that attribute (RFC 8489 §14.5).
  func authenticate(message: Span<UInt8>, upTo end: Int) -> SHA1.Digest {
    let length = UInt16(truncatingIfNeeded: end - STUNHeader.size + 24)
    var hash = inner
    hash.update(message.extracting(0..<2))
    hash.update(UInt8(length >> 8))
    hash.update(UInt8(truncatingIfNeeded: length))
    hash.update(message.extracting(4..<end))
    return seal(hash)
  }

  private func seal(_ hash: consuming SHA1) -> SHA1.Digest {
    let digest = hash.finish()
    var result = outer
    result.update(digest.span)
    return result.finish()
  }
}

/// Whether both are equal; the time does not depend on the first difference.
package func equalInConstantTime(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Bool {
  guard a.count == b.count else { return false }
  var difference: UInt8 = 0
  for i in a.indices { difference |= a[i] ^ b[i] }
  return difference == 0
}
