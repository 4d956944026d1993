public import RTCPrimitives

/// The type of a chunk (RFC 9260 §3.2). The two highest bits tell a receiver how to handle an unknown type.
public struct SCTPChunkType: RawRepresentable, Hashable, Sendable {
  /// The eight bits on the wire.
  public let rawValue: UInt8
  /// The type with these eight bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Payload data (RFC 9260 §3.3.1).
  public static let data = Self(rawValue: 0)
  /// Begins an association.
  public static let initiation = Self(rawValue: 1)
  /// Answers INIT, with a state cookie.
  public static let initiationAck = Self(rawValue: 2)
  /// Acknowledges received chunks (SACK).
  public static let selectiveAck = Self(rawValue: 3)
  /// Asks for a HEARTBEAT ACK.
  public static let heartbeat = Self(rawValue: 4)
  /// Returns the content of a HEARTBEAT.
  public static let heartbeatAck = Self(rawValue: 5)
  /// Ends the association at once.
  public static let abort = Self(rawValue: 6)
  /// Ends sending, and acknowledges received chunks.
  public static let shutdown = Self(rawValue: 7)
  /// Answers SHUTDOWN when everything is acknowledged.
  public static let shutdownAck = Self(rawValue: 8)
  /// Reports an error in a received packet.
  public static let error = Self(rawValue: 9)
  /// Gives back the state cookie of an INIT ACK.
  public static let cookieEcho = Self(rawValue: 10)
  /// Says that the association stands.
  public static let cookieAck = Self(rawValue: 11)
  /// Answers SHUTDOWN ACK.
  public static let shutdownComplete = Self(rawValue: 14)
  /// Payload data of messages that may be interleaved (RFC 8260 §2.1).
  public static let interleavedData = Self(rawValue: 64)
  /// Changes of streams (RFC 6525 §3.1).
  public static let reconfiguration = Self(rawValue: 130)
  /// Skips chunks that the sender has given up (RFC 3758 §3.2).
  public static let forwardTSN = Self(rawValue: 192)
  /// Skips I-DATA chunks that the sender has given up (RFC 8260 §2.3.1).
  public static let interleavedForwardTSN = Self(rawValue: 194)

  /// Whether the rest of the packet is read if the type is unknown.
  public var skipsWhenUnknown: Bool { rawValue & 0x80 != 0 }
  /// Whether an ERROR chunk reports the type if it is unknown.
  public var isReportedWhenUnknown: Bool { rawValue & 0x40 != 0 }
}

/// One chunk of a packet (RFC 9260 §3.2).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  Chunk Type   |  Chunk Flags  |        Chunk Length           |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                          Chunk Value                          …
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
///
/// The length counts type, flags, length and value, not the zero bytes that fill the last word.
public struct SCTPChunk: ~Escapable {
  /// The bytes before the value.
  public static let headerSize = 4
  /// For ABORT and SHUTDOWN COMPLETE: the sender had no tag of its own, and used the receiver's (RFC 9260 §8.5.1).
  public static let reflectsTag: UInt8 = 1

  /// The type of the chunk.
  public let type: SCTPChunkType
  /// Eight bits whose meaning the type decides.
  public let flags: UInt8
  /// The bytes behind the header, without padding.
  public let value: Span<UInt8>
  /// Header and value, as they came.
  public let bytes: Span<UInt8>

  @_lifetime(copy bytes)
  init(type: SCTPChunkType, flags: UInt8, bytes: Span<UInt8>) {
    self.type = type
    self.flags = flags
    self.bytes = bytes
    value = bytes.extracting(Self.headerSize..<bytes.count)
  }

  /// The bytes that a chunk with a value of `valueSize` bytes takes in a packet, padding included.
  public static func paddedSize(valueSize: Int) -> Int { (headerSize + valueSize + 3) & ~3 }

  /// Writes a chunk header for a value of `valueSize` bytes; the value, and padding, are the caller's to write.
  @_lifetime(writer: copy writer)
  public static func writeHeader(
    _ type: SCTPChunkType, flags: UInt8 = 0, valueSize: Int, into writer: inout ByteWriter
  ) {
    writer.write(type.rawValue)
    writer.write(flags)
    writer.write(UInt16(headerSize + valueSize))
  }

  /// Writes a whole chunk, padding included.
  @_lifetime(writer: copy writer)
  public static func write(
    _ type: SCTPChunkType, flags: UInt8 = 0, value: Span<UInt8>, into writer: inout ByteWriter
  ) {
    writeHeader(type, flags: flags, valueSize: value.count, into: &writer)
    writer.write(value)
    writer.write(repeating: 0, count: -value.count & 3)
  }
}

/// The chunks of a packet, one after the other. Ends at the first whose length cannot be.
public struct SCTPChunks: ~Escapable {
  private var reader: ByteReader
  /// The last chunk had a length that cannot be.
  private var isBroken = false

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) { reader = ByteReader(bytes) }

  /// True when bytes are left: after the last chunk, that they were none.
  public var hasRest: Bool { isBroken || !reader.isAtEnd }

  /// The next chunk; nil at the end, and where a length is shorter than the header or longer than the packet.
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  public mutating func next() -> SCTPChunk? {
    guard !isBroken, !reader.isAtEnd else { return nil }
    let start = reader.offset
    isBroken = true
    guard let type = reader.readUInt8(), let flags = reader.readUInt8(), let length = reader.readUInt16(),
      reader.skip(Int(length) - SCTPChunk.headerSize)
    else { return nil }
    isBroken = false
    // The last chunk's padding may be missing.
    _ = reader.skip(min(-Int(length) & 3, reader.remaining))
    let bytes = reader.bytes.extracting(start..<start + Int(length))
    return SCTPChunk(type: SCTPChunkType(rawValue: type), flags: flags, bytes: bytes)
  }
}
