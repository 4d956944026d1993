public import RTCPrimitives

/// The attributes of TURN and of long-term credentials, typed. A value of the wrong length counts as absent.
extension STUNMessage {
  /// REALM, UTF-8, at most 763 bytes (RFC 8489 §14.9); nil when it is missing or longer.
  public var realm: Span<UInt8>? {
    @_lifetime(copy self)
    get { text(of: .realm) }
  }

  /// NONCE, at most 763 bytes (RFC 8489 §14.10); nil when it is missing or longer.
  public var nonce: Span<UInt8>? {
    @_lifetime(copy self)
    get { text(of: .nonce) }
  }

  /// The first XOR-PEER-ADDRESS (RFC 8656 §18.3).
  public var xorPeerAddress: SocketAddress? { maskedAddresses(of: .xorPeerAddress, limit: 1).first }

  /// Every XOR-PEER-ADDRESS, at most 64: of a CreatePermission request.
  public var xorPeerAddresses: [SocketAddress] { maskedAddresses(of: .xorPeerAddress, limit: 64) }

  /// Every XOR-RELAYED-ADDRESS, at most two: one of each family (RFC 8656 §7.2).
  public var xorRelayedAddresses: [SocketAddress] { maskedAddresses(of: .xorRelayedAddress, limit: 2) }

  /// ALTERNATE-SERVER (RFC 8489 §14.15).
  public var alternateServer: SocketAddress? {
    guard let value = value(of: .alternateServer) else { return nil }
    return (try? STUNAddress(parsing: value))?.address
  }

  /// LIFETIME in seconds (RFC 8656 §18.2).
  public var lifetime: UInt32? { integer32(.lifetime) }

  /// CHANNEL-NUMBER (RFC 8656 §18.1).
  public var channelNumber: UInt16? { integer32(.channelNumber).map { UInt16($0 >> 16) } }

  /// REQUESTED-TRANSPORT: an IP protocol number, 17 for UDP (RFC 8656 §18.7).
  public var requestedTransport: UInt8? { integer32(.requestedTransport).map { UInt8($0 >> 24) } }

  /// REQUESTED-ADDRESS-FAMILY (RFC 8656 §18.6).
  public var requestedAddressFamily: TURNAddressFamily? { family(.requestedAddressFamily) }

  /// ADDITIONAL-ADDRESS-FAMILY (RFC 8656 §18.11).
  public var additionalAddressFamily: TURNAddressFamily? { family(.additionalAddressFamily) }

  /// The position of DATA in `bytes` (RFC 8656 §18.4).
  public var dataRange: Range<Int>? {
    var cursor = attributes
    while true {
      let start = STUNHeader.size + cursor.offset + 4
      guard let attribute = cursor.next() else { return nil }
      if attribute.type == .data { return start..<start + attribute.value.count }
    }
  }

  /// The reason phrase of ERROR-CODE, UTF-8 for people (RFC 8489 §14.8).
  public var errorReason: Span<UInt8>? {
    @_lifetime(copy self)
    get {
      guard let value = value(of: .errorCode), value.count > 4 else { return nil }
      return value.extracting(4..<value.count)
    }
  }

  /// The longest REALM and NONCE there may be (RFC 8489 §14.9, §14.10).
  private static var longestText: Int { 763 }

  @_lifetime(copy self)
  private func text(of type: STUNAttributeType) -> Span<UInt8>? {
    guard let value = value(of: type), value.count <= Self.longestText else { return nil }
    return value
  }

  private func maskedAddresses(of type: STUNAttributeType, limit: Int) -> [SocketAddress] {
    var addresses: [SocketAddress] = []
    var cursor = attributes
    while addresses.count < limit, let attribute = cursor.next() {
      guard attribute.type == type,
        let value = try? STUNAddress(parsing: attribute.value, maskedBy: header.transactionID)
      else { continue }
      addresses.append(value.address)
    }
    return addresses
  }

  private func integer32(_ type: STUNAttributeType) -> UInt32? {
    guard let value = value(of: type), value.count == 4 else { return nil }
    var reader = ByteReader(value)
    return reader.readUInt32()
  }

  private func family(_ type: STUNAttributeType) -> TURNAddressFamily? {
    integer32(type).flatMap { TURNAddressFamily(rawValue: UInt8($0 >> 24)) }
  }
}

/// The family of a relayed address, in REQUESTED-ADDRESS-FAMILY and ADDITIONAL-ADDRESS-FAMILY (RFC 8656 §18.6, §18.11).
public enum TURNAddressFamily: UInt8, Sendable, BitwiseCopyable {
  case v4 = 1
  case v6 = 2
}
