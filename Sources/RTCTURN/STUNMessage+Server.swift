import RTCPrimitives
import RTCWire

extension STUNAttributeType {
  /// EVEN-PORT (RFC 8656 §18.8).
  static let evenPort = STUNAttributeType(0x0018)
  /// RESERVATION-TOKEN (RFC 8656 §18.10).
  static let reservationToken = STUNAttributeType(0x0022)
  /// ADDRESS-ERROR-CODE (RFC 8656 §18.12).
  static let addressErrorCode = STUNAttributeType(0x8001)

  /// The attributes that the server must know and does not. DONT-FRAGMENT is one, as RFC 8656 §7.2 wants it of servers that cannot
  /// follow it.
  fileprivate var isUnknownToServer: Bool {
    guard isComprehensionRequired else { return false }
    switch self {
    case .mappedAddress, .username, .messageIntegrity, .errorCode, .unknownAttributes, .channelNumber, .lifetime,
      .xorPeerAddress, .data, .realm, .nonce, .xorRelayedAddress, .requestedAddressFamily, .requestedTransport,
      .messageIntegritySHA256, .xorMappedAddress, .evenPort, .reservationToken, .priority, .useCandidate:
      return false
    default: return true
    }
  }
}

extension STUNMessage {
  /// The first XOR-PEER-ADDRESS, found without memory of its own.
  var firstPeerAddress: SocketAddress? {
    guard let value = value(of: .xorPeerAddress) else { return nil }
    return (try? STUNAddress(parsing: value, maskedBy: header.transactionID))?.address
  }

  /// An attribute is there that the server must know and does not.
  var hasUnknownTURNAttributes: Bool {
    var cursor = attributes
    while let attribute = cursor.next() {
      if attribute.type.isUnknownToServer { return true }
    }
    return false
  }

  /// The types of such attributes, at most 16.
  var unknownTURNAttributes: [STUNAttributeType] {
    var types: [STUNAttributeType] = []
    var cursor = attributes
    while types.count < 16, let attribute = cursor.next() {
      if attribute.type.isUnknownToServer, !types.contains(attribute.type) { types.append(attribute.type) }
    }
    return types
  }
}
