import RTCPrimitives

/// A STUN attribute's 16-bit type (RFC 8489 §18.3). Types below 0x8000 must be understood by the receiver.
public struct STUNAttributeType: Hashable, Sendable, BitwiseCopyable {
  /// The 16 bits on the wire.
  public var value: UInt16
  /// The type with these 16 bits.
  @inlinable
  public init(_ value: UInt16) { self.value = value }

  /// True when a receiver that does not know the type must refuse the message (RFC 8489 §14).
  public var isComprehensionRequired: Bool { value < 0x8000 }

  /// MAPPED-ADDRESS (RFC 8489 §14.1).
  public static let mappedAddress = STUNAttributeType(0x0001)
  /// USERNAME (RFC 8489 §14.3).
  public static let username = STUNAttributeType(0x0006)
  /// MESSAGE-INTEGRITY (RFC 8489 §14.5).
  public static let messageIntegrity = STUNAttributeType(0x0008)
  /// ERROR-CODE (RFC 8489 §14.8).
  public static let errorCode = STUNAttributeType(0x0009)
  /// UNKNOWN-ATTRIBUTES (RFC 8489 §14.13).
  public static let unknownAttributes = STUNAttributeType(0x000A)
  /// CHANNEL-NUMBER (RFC 8656 §18.1).
  public static let channelNumber = STUNAttributeType(0x000C)
  /// LIFETIME (RFC 8656 §18.2).
  public static let lifetime = STUNAttributeType(0x000D)
  /// XOR-PEER-ADDRESS (RFC 8656 §18.3).
  public static let xorPeerAddress = STUNAttributeType(0x0012)
  /// DATA (RFC 8656 §18.4).
  public static let data = STUNAttributeType(0x0013)
  /// REALM (RFC 8489 §14.9).
  public static let realm = STUNAttributeType(0x0014)
  /// NONCE (RFC 8489 §14.10).
  public static let nonce = STUNAttributeType(0x0015)
  /// XOR-RELAYED-ADDRESS (RFC 8656 §18.5).
  public static let xorRelayedAddress = STUNAttributeType(0x0016)
  /// REQUESTED-ADDRESS-FAMILY (RFC 8656 §18.6).
  public static let requestedAddressFamily = STUNAttributeType(0x0017)
  /// REQUESTED-TRANSPORT (RFC 8656 §18.7).
  public static let requestedTransport = STUNAttributeType(0x0019)
  /// MESSAGE-INTEGRITY-SHA256 (RFC 8489 §14.6).
  public static let messageIntegritySHA256 = STUNAttributeType(0x001C)
  /// XOR-MAPPED-ADDRESS (RFC 8489 §14.2).
  public static let xorMappedAddress = STUNAttributeType(0x0020)
  /// RFC 8445 §16.1.
  public static let priority = STUNAttributeType(0x0024)
  /// RFC 8445 §16.1.
  public static let useCandidate = STUNAttributeType(0x0025)
  /// ADDITIONAL-ADDRESS-FAMILY (RFC 8656 §18.11).
  public static let additionalAddressFamily = STUNAttributeType(0x8000)
  /// SOFTWARE (RFC 8489 §14.14).
  public static let software = STUNAttributeType(0x8022)
  /// ALTERNATE-SERVER (RFC 8489 §14.15).
  public static let alternateServer = STUNAttributeType(0x8023)
  /// FINGERPRINT (RFC 8489 §14.7).
  public static let fingerprint = STUNAttributeType(0x8028)
  /// RFC 8445 §16.1.
  public static let iceControlled = STUNAttributeType(0x8029)
  /// RFC 8445 §16.1.
  public static let iceControlling = STUNAttributeType(0x802A)

  /// Whether an ICE agent understands the attribute.
  var isUnderstood: Bool {
    switch self {
    case .mappedAddress, .username, .messageIntegrity, .errorCode, .unknownAttributes, .realm, .nonce,
      .messageIntegritySHA256, .xorMappedAddress, .priority, .useCandidate:
      true
    default: false
    }
  }
}

/// One attribute as it lies in a message (RFC 8489 §14); the value is without its padding.
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |             type              |            length             |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |            value, padded to a multiple of four bytes          |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
public struct STUNAttribute: ~Escapable {
  /// The type of the value.
  public let type: STUNAttributeType
  /// The value, without padding.
  public let value: Span<UInt8>

  @_lifetime(copy value)
  init(type: STUNAttributeType, value: Span<UInt8>) {
    self.type = type
    self.value = value
  }
}

/// Walks over a message's attributes.
public struct STUNAttributeCursor: ~Escapable {
  private var reader: ByteReader

  /// - Parameter bytes: a message's bytes after the header.
  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) { reader = ByteReader(bytes) }

  /// Bytes passed so far.
  var offset: Int { reader.offset }

  /// The next attribute; nil at the end, or if the rest is not a complete attribute.
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  public mutating func next() -> STUNAttribute? {
    guard let type = reader.readUInt16(), let length = reader.readUInt16(), let value = reader.read(Int(length)),
      reader.skip(-Int(length) & 3)
    else { return nil }
    return STUNAttribute(type: STUNAttributeType(type), value: value)
  }
}
