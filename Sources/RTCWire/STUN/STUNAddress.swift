public import RTCPrimitives

/// The value of MAPPED-ADDRESS (RFC 8489 §14.1) and, with port and address masked by the magic cookie and transaction ID,
/// of XOR-MAPPED-ADDRESS (§14.2).
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |0 0 0 0 0 0 0 0|  family 1, 2  |             port              |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |                address (32 or 128 bits)                       |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
public struct STUNAddress: Hashable, Sendable {
  /// The address, masked or plain as the value is.
  public var address: SocketAddress

  /// Makes the value for `address`; a scope is not sent.
  public init(_ address: SocketAddress) { self.address = address }

  /// The plain form.
  public init(parsing value: Span<UInt8>) throws(STUNParseError) {
    var reader = ByteReader(value)
    guard reader.skip(1), let family = reader.readUInt8(), let port = reader.readUInt16() else { throw .truncated }
    switch (family, reader.remaining) {
    case (1, 4):
      address = SocketAddress(ip: .v4(reader.readUInt32()!), port: port)
    case (2, 16):
      let (high, low) = (reader.readUInt64()!, reader.readUInt64()!)
      address = SocketAddress(ip: .v6(high: high, low: low, scope: 0), port: port)
    default: throw .badAttribute
    }
  }

  /// The masked form.
  public init(parsing value: Span<UInt8>, maskedBy id: STUNTransactionID) throws(STUNParseError) {
    let masked = try STUNAddress(parsing: value)
    self = masked.masked(by: id)
  }

  /// Bytes on the wire.
  public var size: Int { address.ip.isV4 ? 8 : 20 }

  /// Writes the value as it stands; for XOR-MAPPED-ADDRESS write `masked(by:)`.
  public func write(into writer: inout ByteWriter) {
    writer.write(UInt8(0))
    writer.write(UInt8(address.ip.isV4 ? 1 : 2))
    writer.write(address.port)
    switch address.ip {
    case .v4(let value): writer.write(value)
    case .v6(let high, let low, _):
      writer.write(high)
      writer.write(low)
    }
  }

  /// Masks, or takes the mask away. An IPv6 scope does not survive it.
  public func masked(by id: STUNTransactionID) -> STUNAddress {
    let cookie = STUNHeader.magicCookie
    let port = address.port ^ UInt16(cookie >> 16)
    switch address.ip {
    case .v4(let value): return STUNAddress(SocketAddress(ip: .v4(value ^ cookie), port: port))
    case .v6(let high, let low, _):
      let ip = IPAddress.v6(high: high ^ (UInt64(cookie) << 32 | UInt64(id.high)), low: low ^ id.low, scope: 0)
      return STUNAddress(SocketAddress(ip: ip, port: port))
    }
  }
}

extension STUNAddress: CustomStringConvertible {
  /// The address and port as text.
  public var description: String { address.description }
}
