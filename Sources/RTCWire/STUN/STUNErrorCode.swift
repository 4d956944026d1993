public import RTCPrimitives

/// The value of ERROR-CODE (RFC 8489 §14.8). The reason phrase is for people and is not kept; `STUNMessage.errorReason` has it.
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |           reserved, zero                |class|    number     |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |      reason phrase (variable)                                 |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
public struct STUNErrorCode: Hashable, Sendable, BitwiseCopyable {
  /// 300…699.
  public var code: UInt16

  /// The error `code`, which should be in 300…699; nothing is checked.
  @inlinable
  public init(_ code: UInt16) { self.code = code }

  /// 300: ask another server (ALTERNATE-SERVER).
  public static let tryAlternate = STUNErrorCode(300)
  /// 400: the request is malformed.
  public static let badRequest = STUNErrorCode(400)
  /// 401: the request lacks valid credentials.
  public static let unauthenticated = STUNErrorCode(401)
  /// 403: the server's rules forbid it (RFC 8656 §19).
  public static let forbidden = STUNErrorCode(403)
  /// 420: the request has a required attribute that the receiver does not know.
  public static let unknownAttribute = STUNErrorCode(420)
  /// 437: there is no allocation for the request, or there is one already (RFC 8656 §19).
  public static let allocationMismatch = STUNErrorCode(437)
  /// 438: the nonce has expired (RFC 8489 §14.8).
  public static let staleNonce = STUNErrorCode(438)
  /// 440: the server has no relayed address of the family (RFC 8656 §19).
  public static let addressFamilyNotSupported = STUNErrorCode(440)
  /// 441: the allocation was made with other credentials (RFC 8656 §19).
  public static let wrongCredentials = STUNErrorCode(441)
  /// 442: the server does not relay by the transport (RFC 8656 §19).
  public static let unsupportedTransport = STUNErrorCode(442)
  /// 443: the peer's address is of another family than the relayed one (RFC 8656 §19).
  public static let peerAddressFamilyMismatch = STUNErrorCode(443)
  /// 486: the user has as many allocations as the server allows (RFC 8656 §19).
  public static let allocationQuotaReached = STUNErrorCode(486)
  /// RFC 8445 §7.3.1.1.
  public static let roleConflict = STUNErrorCode(487)
  /// 508: the server has no more relayed addresses or ports (RFC 8656 §19).
  public static let insufficientCapacity = STUNErrorCode(508)

  /// Throws `truncated` for fewer than four bytes and `badAttribute` for a code outside 300…699.
  public init(parsing value: Span<UInt8>) throws(STUNParseError) {
    var reader = ByteReader(value)
    guard reader.skip(2), let hundreds = reader.readUInt8(), let number = reader.readUInt8() else { throw .truncated }
    guard (3...6).contains(hundreds & 7), number < 100 else { throw .badAttribute }
    code = UInt16(hundreds & 7) * 100 + UInt16(number)
  }

  /// Bytes on the wire, with an empty reason phrase.
  public var size: Int { 4 }

  /// Writes the value with an empty reason phrase, four bytes.
  public func write(into writer: inout ByteWriter) {
    writer.write(UInt16(0))
    writer.write(UInt8(code / 100))
    writer.write(UInt8(code % 100))
  }
}

extension STUNErrorCode: CustomStringConvertible {
  /// The code in decimal.
  public var description: String { "\(code)" }
}
