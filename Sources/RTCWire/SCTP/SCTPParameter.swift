public import RTCPrimitives

/// The type of a parameter of INIT, INIT ACK or RE-CONFIG (RFC 9260 §3.2.1). The two highest bits of an unknown type
/// have the same meaning as a chunk's.
public struct SCTPParameterType: RawRepresentable, Hashable, Sendable {
  /// The sixteen bits on the wire.
  public let rawValue: UInt16
  /// The type with these sixteen bits.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The cookie that the answer to INIT ACK must return (RFC 9260 §3.3.3).
  public static let stateCookie = Self(rawValue: 7)
  /// A parameter of INIT that its receiver did not know.
  public static let unrecognized = Self(rawValue: 8)
  /// "Reset my outgoing streams" (RFC 6525 §4.1).
  public static let outgoingResetRequest = Self(rawValue: 13)
  /// "Reset your outgoing streams" (RFC 6525 §4.2).
  public static let incomingResetRequest = Self(rawValue: 14)
  /// Requests that all numbers start again (RFC 6525 §4.3).
  public static let associationResetRequest = Self(rawValue: 15)
  /// The answer to any of these (RFC 6525 §4.4).
  public static let reconfigurationResponse = Self(rawValue: 16)
  /// "More streams from me" (RFC 6525 §4.5).
  public static let addOutgoingStreams = Self(rawValue: 17)
  /// "More streams to me" (RFC 6525 §4.6).
  public static let addIncomingStreams = Self(rawValue: 18)
  /// The error detection that stands in for the checksum (RFC 9653 §4).
  public static let zeroChecksumAcceptable = Self(rawValue: 0x8001)
  /// The chunk types beyond RFC 9260 that the sender knows (RFC 5061 §4.2.7).
  public static let supportedExtensions = Self(rawValue: 0x8008)
  /// The sender understands FORWARD TSN (RFC 3758 §3.1).
  public static let forwardTSNSupported = Self(rawValue: 0xC000)

  /// Whether the following parameters are read if the type is unknown.
  public var skipsWhenUnknown: Bool { rawValue & 0x8000 != 0 }
  /// Whether the type is reported to the sender if it is unknown.
  public var isReportedWhenUnknown: Bool { rawValue & 0x4000 != 0 }
}

/// One parameter: type, length, value (RFC 9260 §3.2.1).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |        Parameter Type         |       Parameter Length        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                        Parameter Value                        …
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
public struct SCTPParameter: ~Escapable {
  /// The bytes before the value.
  public static let headerSize = 4
  /// The type of the parameter.
  public let type: SCTPParameterType
  /// The bytes behind the header, without padding.
  public let value: Span<UInt8>
  /// Header and value, as they came.
  public let bytes: Span<UInt8>

  @_lifetime(copy bytes)
  init(type: SCTPParameterType, bytes: Span<UInt8>) {
    self.type = type
    self.bytes = bytes
    value = bytes.extracting(Self.headerSize..<bytes.count)
  }

  /// Writes a whole parameter, padding included.
  @_lifetime(writer: copy writer)
  public static func write(_ type: SCTPParameterType, value: Span<UInt8>, into writer: inout ByteWriter) {
    writer.write(type.rawValue)
    writer.write(UInt16(headerSize + value.count))
    writer.write(value)
    writer.write(repeating: 0, count: -value.count & 3)
  }
}

/// Parameters one after the other. Ends at the first whose length cannot be.
public struct SCTPParameters: ~Escapable {
  private var reader: ByteReader

  /// Starts at the first byte of `bytes`.
  @_lifetime(copy bytes)
  public init(_ bytes: Span<UInt8>) { reader = ByteReader(bytes) }

  /// The next parameter; nil at the end, and if a length is shorter than the header or longer than the rest.
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  public mutating func next() -> SCTPParameter? {
    let start = reader.offset
    guard let type = reader.readUInt16(), let length = reader.readUInt16(),
      reader.skip(Int(length) - SCTPParameter.headerSize)
    else { return nil }
    _ = reader.skip(min(-Int(length) & 3, reader.remaining))
    let bytes = reader.bytes.extracting(start..<start + Int(length))
    return SCTPParameter(type: SCTPParameterType(rawValue: type), bytes: bytes)
  }
}
