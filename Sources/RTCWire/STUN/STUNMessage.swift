import RTCPrimitives

/// A STUN message as it lies in a datagram (RFC 8489 §5): checked for form, nothing copied.
///
/// Attributes behind MESSAGE-INTEGRITY are not covered by it and are passed over, all but FINGERPRINT (RFC 8489 §14.5).
public struct STUNMessage: ~Escapable {
  /// The header that the message begins with.
  public let header: STUNHeader
  /// The whole datagram.
  public let bytes: Span<UInt8>
  /// The position of MESSAGE-INTEGRITY.
  private let integrityOffset: Int?
  /// The position of FINGERPRINT.
  private let fingerprintOffset: Int?
  /// The end of the attributes that count.
  private let end: Int

  /// - Parameter bytes: one datagram, which must hold exactly one message.
  @_lifetime(copy bytes)
  public init(parsing bytes: Span<UInt8>) throws(STUNParseError) {
    var reader = ByteReader(bytes)
    header = try STUNHeader(parsing: &reader)
    guard header.length & 3 == 0, Int(header.length) == reader.remaining else { throw .badLength }
    self.bytes = bytes
    var integrity: Int?
    var fingerprint: Int?
    var cursor = STUNAttributeCursor(reader.readRest())
    while STUNHeader.size + cursor.offset < bytes.count {
      guard fingerprint == nil else { throw .badAttribute }
      let offset = STUNHeader.size + cursor.offset
      guard let attribute = cursor.next() else { throw .badAttribute }
      switch attribute.type {
      case .messageIntegrity where integrity == nil:
        guard attribute.value.count == 20 else { throw .badAttribute }
        integrity = offset
      case .fingerprint:
        guard attribute.value.count == 4 else { throw .badAttribute }
        fingerprint = offset
      default: break
      }
    }
    integrityOffset = integrity
    fingerprintOffset = fingerprint
    end = integrity ?? fingerprint ?? bytes.count
  }

  /// True when the first byte and the cookie say STUN (RFC 7983 §7, RFC 8489 §6.3); cheaper than parsing.
  public static func isLikely(_ datagram: Span<UInt8>) -> Bool {
    guard datagram.count >= STUNHeader.size, datagram[0] < 4 else { return false }
    return datagram[4] == 0x21 && datagram[5] == 0x12 && datagram[6] == 0xA4 && datagram[7] == 0x42
  }

  /// The attributes that count, in order, without MESSAGE-INTEGRITY and FINGERPRINT.
  public var attributes: STUNAttributeCursor {
    @_lifetime(copy self)
    get { STUNAttributeCursor(bytes.extracting(STUNHeader.size..<end)) }
  }

  /// The value of the first attribute of `type`.
  @_lifetime(copy self)
  public func value(of type: STUNAttributeType) -> Span<UInt8>? {
    var cursor = attributes
    while let attribute = cursor.next() {
      if attribute.type == type { return attribute.value }
    }
    return nil
  }

  /// True when MESSAGE-INTEGRITY is there; says nothing about whether it is right.
  public var hasMessageIntegrity: Bool { integrityOffset != nil }

  /// True when MESSAGE-INTEGRITY is there and was made with `key`. Compares in constant time.
  public func isAuthentic(key: borrowing STUNIntegrityKey) -> Bool {
    guard let offset = integrityOffset else { return false }
    let expected = key.authenticate(message: bytes, upTo: offset)
    return equalInConstantTime(expected.span, bytes.extracting(offset + 4..<offset + 24))
  }

  /// True when FINGERPRINT is there; says nothing about whether it is right.
  public var hasFingerprint: Bool { fingerprintOffset != nil }

  /// True when FINGERPRINT is there and right (RFC 8489 §14.7).
  public var hasValidFingerprint: Bool {
    guard let offset = fingerprintOffset else { return false }
    var reader = ByteReader(bytes.extracting(offset + 4..<offset + 8))
    return reader.readUInt32() == CRC32.checksum(bytes.extracting(0..<offset)) ^ STUNFingerprint.mask
  }
}

/// FINGERPRINT's mask (RFC 8489 §14.7).
enum STUNFingerprint {
  static let mask: UInt32 = 0x5354_554E
}
