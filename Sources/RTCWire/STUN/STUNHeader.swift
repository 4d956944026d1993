public import RTCPrimitives

/// The two class bits of a STUN message type (RFC 8489 §5).
public enum STUNClass: UInt16, Sendable, BitwiseCopyable {
  case request = 0
  case indication = 1
  case success = 2
  case error = 3
}

/// A STUN method, 12 bits (RFC 8489 §18.2).
public struct STUNMethod: Hashable, Sendable, BitwiseCopyable {
  /// The method's number; `init` keeps it to 0…4095.
  public var value: UInt16
  /// Takes the low 12 bits of `value`.
  @inlinable
  public init(_ value: UInt16) { self.value = value & 0xFFF }

  /// Binding, the one method that ICE uses (RFC 8489 §3).
  public static let binding = STUNMethod(1)
  /// Allocate (RFC 8656 §7).
  public static let allocate = STUNMethod(3)
  /// Refresh (RFC 8656 §8).
  public static let refresh = STUNMethod(4)
  /// Send, an indication from the client (RFC 8656 §11.1).
  public static let send = STUNMethod(6)
  /// Data, an indication from the server (RFC 8656 §11.3).
  public static let data = STUNMethod(7)
  /// CreatePermission (RFC 8656 §10).
  public static let createPermission = STUNMethod(8)
  /// ChannelBind (RFC 8656 §12.1).
  public static let channelBind = STUNMethod(9)
}

/// The 96 bits that tie a response to its request (RFC 8489 §5).
public struct STUNTransactionID: Hashable, Sendable, BitwiseCopyable {
  /// The upper 32 bits.
  public var high: UInt32
  /// The lower 64 bits.
  public var low: UInt64

  /// The identifier of these 96 bits.
  @inlinable
  public init(high: UInt32, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Takes 96 random bits from two numbers of `generator`.
  public init(using generator: inout some RandomNumberGenerator) {
    high = UInt32(truncatingIfNeeded: generator.next())
    low = generator.next()
  }
}

/// The fixed start of every STUN message (RFC 8489 §5).
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |0 0|  method and class         |         message length        |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |                   magic cookie 0x2112A442                     |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |                  transaction ID (96 bits)                     |
///     |                                                               |
///     |                                                               |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
public struct STUNHeader: Hashable, Sendable, BitwiseCopyable {
  /// Bytes on the wire.
  public static let size = 20
  /// The fixed value that distinguishes STUN from other protocols (RFC 8489 §5).
  public static let magicCookie: UInt32 = 0x2112_A442

  /// Whether the message is a request, an indication or a response.
  public var `class`: STUNClass
  /// The method of the request or response.
  public var method: STUNMethod
  /// The bytes after the header.
  public var length: UInt16
  /// The identifier that links a response to its request.
  public var transactionID: STUNTransactionID

  /// A header for `length` bytes of attributes, padding included.
  public init(class: STUNClass, method: STUNMethod = .binding, length: UInt16 = 0, transactionID: STUNTransactionID) {
    self.class = `class`
    self.method = method
    self.length = length
    self.transactionID = transactionID
  }

  /// Reads a header; the length field is not compared with anything here.
  public init(parsing reader: inout ByteReader) throws(STUNParseError) {
    guard let type = reader.readUInt16(), let length = reader.readUInt16(), let cookie = reader.readUInt32(),
      let high = reader.readUInt32(), let low = reader.readUInt64()
    else { throw .truncated }
    guard type & 0xC000 == 0, cookie == Self.magicCookie else { throw .notStun }
    self.class = STUNClass(rawValue: type >> 7 & 2 | type >> 4 & 1)!
    method = STUNMethod(type >> 2 & 0xF80 | type >> 1 & 0x70 | type & 0xF)
    self.length = length
    transactionID = STUNTransactionID(high: high, low: low)
  }

  /// Writes the header, 20 bytes.
  public func write(into writer: inout ByteWriter) {
    let m = method.value
    let c = `class`.rawValue
    writer.write(m << 2 & 0x3E00 | m << 1 & 0xE0 | m & 0xF | c << 7 & 0x100 | c << 4 & 0x10)
    writer.write(length)
    writer.write(Self.magicCookie)
    writer.write(transactionID.high)
    writer.write(transactionID.low)
  }
}

/// Why bytes are not a STUN message.
public enum STUNParseError: Error, Hashable, Sendable {
  /// Shorter than a header, or than a field it announces.
  case truncated
  /// The top two bits or the magic cookie are wrong.
  case notStun
  /// The header's length is no multiple of four or disagrees with the datagram.
  case badLength
  /// An attribute reaches past the message, has an impossible length, or follows FINGERPRINT.
  case badAttribute
}

extension STUNTransactionID: CustomStringConvertible {
  /// 24 hexadecimal digits.
  public var description: String { hex(UInt64(high), digits: 8) + hex(low, digits: 16) }

  private func hex(_ value: UInt64, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: digits - text.count) + text
  }
}

extension STUNHeader: CustomStringConvertible {
  /// Method, class and transaction ID, for logs.
  public var description: String { "STUN method \(method.value) \(`class`) \(transactionID)" }
}
