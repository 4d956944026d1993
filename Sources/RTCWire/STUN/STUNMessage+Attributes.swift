public import RTCPrimitives

/// The attributes ICE uses, typed. A value of the wrong length counts as absent.
extension STUNMessage {
  /// USERNAME, UTF-8 (RFC 8489 §14.3).
  public var username: Span<UInt8>? {
    @_lifetime(copy self)
    get { value(of: .username) }
  }

  /// USERNAME of an ICE check up to the first colon: the fragment of the agent the request is meant for
  /// (RFC 8445 §7.2.2). Nil without a colon.
  public var receiverFragment: Span<UInt8>? {
    @_lifetime(copy self)
    get {
      guard let username, let colon = Self.colon(in: username) else { return nil }
      return username.extracting(0..<colon)
    }
  }

  /// USERNAME of an ICE check behind the first colon: the sender's fragment.
  public var senderFragment: Span<UInt8>? {
    @_lifetime(copy self)
    get {
      guard let username, let colon = Self.colon(in: username) else { return nil }
      return username.extracting(colon + 1..<username.count)
    }
  }

  /// XOR-MAPPED-ADDRESS.
  public var xorMappedAddress: SocketAddress? {
    guard let value = value(of: .xorMappedAddress) else { return nil }
    return (try? STUNAddress(parsing: value, maskedBy: header.transactionID))?.address
  }

  /// MAPPED-ADDRESS, which only servers older than RFC 5389 send alone.
  public var mappedAddress: SocketAddress? {
    guard let value = value(of: .mappedAddress) else { return nil }
    return (try? STUNAddress(parsing: value))?.address
  }

  /// PRIORITY: the priority of the peer-reflexive candidate that this check would reveal (RFC 8445 §7.1.1).
  public var priority: UInt32? {
    guard let value = value(of: .priority), value.count == 4 else { return nil }
    var reader = ByteReader(value)
    return reader.readUInt32()
  }

  /// USE-CANDIDATE: the controlling agent nominates the pair (RFC 8445 §7.1.2).
  public var nominates: Bool { value(of: .useCandidate) != nil }

  /// ICE-CONTROLLING or ICE-CONTROLLED.
  public var iceRole: STUNICERole? {
    if let tieBreaker = integer64(.iceControlling) { return .controlling(tieBreaker: tieBreaker) }
    if let tieBreaker = integer64(.iceControlled) { return .controlled(tieBreaker: tieBreaker) }
    return nil
  }

  /// ERROR-CODE.
  public var errorCode: STUNErrorCode? {
    guard let value = value(of: .errorCode) else { return nil }
    return try? STUNErrorCode(parsing: value)
  }

  /// SOFTWARE, UTF-8.
  public var software: Span<UInt8>? {
    @_lifetime(copy self)
    get { value(of: .software) }
  }

  /// The types the receiver must know but does not, at most 16 (for UNKNOWN-ATTRIBUTES, RFC 8489 §14.13).
  public var unknownRequiredAttributes: [STUNAttributeType] {
    var types: [STUNAttributeType] = []
    var cursor = attributes
    while let attribute = cursor.next(), types.count < 16 {
      let type = attribute.type
      if type.isComprehensionRequired, !type.isUnderstood, !types.contains(type) { types.append(type) }
    }
    return types
  }

  /// The types that UNKNOWN-ATTRIBUTES of a 420 response names, at most 16.
  public var unknownAttributes: [STUNAttributeType] {
    guard let value = value(of: .unknownAttributes) else { return [] }
    var reader = ByteReader(value)
    var types: [STUNAttributeType] = []
    while types.count < 16, let type = reader.readUInt16() { types.append(STUNAttributeType(type)) }
    return types
  }

  private func integer64(_ type: STUNAttributeType) -> UInt64? {
    guard let value = value(of: type), value.count == 8 else { return nil }
    var reader = ByteReader(value)
    return reader.readUInt64()
  }

  private static func colon(in username: Span<UInt8>) -> Int? {
    for i in username.indices where username[i] == UInt8(ascii: ":") { return i }
    return nil
  }
}

/// The role that a request's sender believes to have, with its tie-breaker (RFC 8445 §7.1.3).
public enum STUNICERole: Hashable, Sendable {
  case controlling(tieBreaker: UInt64)
  case controlled(tieBreaker: UInt64)
}
