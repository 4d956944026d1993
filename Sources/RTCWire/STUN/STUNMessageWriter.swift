public import RTCPrimitives

/// Writes one STUN message into a caller's buffer: header, attributes in the order written, then MESSAGE-INTEGRITY and
/// FINGERPRINT. Traps when the buffer is too small: 512 bytes hold any ICE message.
public struct STUNMessageWriter: ~Copyable, ~Escapable {
  private var writer: ByteWriter
  private let transactionID: STUNTransactionID

  /// Writes the header at the start of `bytes`; `finish` fills in the length.
  @_lifetime(copy bytes)
  public init(
    _ class: STUNClass, method: STUNMethod = .binding, transactionID: STUNTransactionID,
    into bytes: consuming MutableSpan<UInt8>
  ) {
    writer = ByteWriter(bytes)
    self.transactionID = transactionID
    STUNHeader(class: `class`, method: method, transactionID: transactionID).write(into: &writer)
  }

  /// Any attribute, by its bytes.
  @_lifetime(self: copy self)
  public mutating func write(_ type: STUNAttributeType, _ value: Span<UInt8>) {
    writeHead(type, length: value.count)
    writer.write(value)
    writer.write(repeating: 0, count: -value.count & 3)
  }

  /// An attribute without a value, such as USE-CANDIDATE.
  @_lifetime(self: copy self)
  public mutating func write(_ type: STUNAttributeType) { writeHead(type, length: 0) }

  /// A 32-bit attribute, such as PRIORITY.
  @_lifetime(self: copy self)
  public mutating func write(_ type: STUNAttributeType, _ value: UInt32) {
    writeHead(type, length: 4)
    writer.write(value)
  }

  /// ICE-CONTROLLING or ICE-CONTROLLED.
  @_lifetime(self: copy self)
  public mutating func write(_ role: STUNICERole) {
    switch role {
    case .controlling(let tieBreaker):
      writeHead(.iceControlling, length: 8)
      writer.write(tieBreaker)
    case .controlled(let tieBreaker):
      writeHead(.iceControlled, length: 8)
      writer.write(tieBreaker)
    }
  }

  /// XOR-MAPPED-ADDRESS, masked by this message's transaction ID (RFC 8489 §14.2).
  @_lifetime(self: copy self)
  public mutating func writeXorMappedAddress(_ address: SocketAddress) {
    writeXorAddress(.xorMappedAddress, address)
  }

  /// An address masked by this message's transaction ID, such as XOR-PEER-ADDRESS (RFC 8656 §18.3).
  @_lifetime(self: copy self)
  public mutating func writeXorAddress(_ type: STUNAttributeType, _ address: SocketAddress) {
    writeAddress(type, STUNAddress(address).masked(by: transactionID).address)
  }

  /// An address as it is, such as ALTERNATE-SERVER (RFC 8489 §14.15).
  @_lifetime(self: copy self)
  public mutating func writeAddress(_ type: STUNAttributeType, _ address: SocketAddress) {
    let value = STUNAddress(address)
    writeHead(type, length: value.size)
    value.write(into: &writer)
  }

  /// REQUESTED-ADDRESS-FAMILY or ADDITIONAL-ADDRESS-FAMILY (RFC 8656 §18.6, §18.11).
  @_lifetime(self: copy self)
  public mutating func write(_ type: STUNAttributeType, _ family: TURNAddressFamily) {
    write(type, UInt32(family.rawValue) << 24)
  }

  /// ERROR-CODE with an empty reason phrase (RFC 8489 §14.8).
  @_lifetime(self: copy self)
  public mutating func write(_ error: STUNErrorCode) {
    writeHead(.errorCode, length: error.size)
    error.write(into: &writer)
  }

  /// UNKNOWN-ATTRIBUTES (RFC 8489 §14.13).
  @_lifetime(self: copy self)
  public mutating func writeUnknownAttributes(_ types: [STUNAttributeType]) {
    writeHead(.unknownAttributes, length: 2 * types.count)
    for type in types { writer.write(type.value) }
    writer.write(repeating: 0, count: -2 * types.count & 3)
  }

  /// Ends the message: MESSAGE-INTEGRITY if there is a key, then FINGERPRINT.
  /// - Parameter hasFingerprint: false for STUN and TURN servers, which receive no other protocol.
  /// - Returns: the message's length in bytes.
  public consuming func finish(key: STUNIntegrityKey?, hasFingerprint: Bool = true) -> Int {
    if let key {
      let digest = key.authenticate(message: writer.written, upTo: writer.offset)
      writeHead(.messageIntegrity, length: 20)
      writer.write(digest.span)
    }
    guard hasFingerprint else {
      writer.overwrite(UInt16(writer.offset - STUNHeader.size), at: 2)
      return writer.offset
    }
    writer.overwrite(UInt16(writer.offset - STUNHeader.size + 8), at: 2)
    let checksum = CRC32.checksum(writer.written) ^ STUNFingerprint.mask
    writeHead(.fingerprint, length: 4)
    writer.write(checksum)
    return writer.offset
  }

  @_lifetime(self: copy self)
  private mutating func writeHead(_ type: STUNAttributeType, length: Int) {
    writer.write(type.value)
    writer.write(UInt16(length))
  }
}
