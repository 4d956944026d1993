public import RTCPrimitives

/// DATA, or I-DATA of messages that may be interleaved: a message or a fragment of one (RFC 9260 §3.3.1, RFC 8260 §2.1).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |   Type = 0    |  Res  |I|U|B|E|            Length             |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                              TSN                              |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |      Stream Identifier        |    Stream Sequence Number     |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                  Payload Protocol Identifier                  |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                           User Data                           …
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
///
/// I-DATA (type 64) has 16 reserved bits after the stream, then a Message Identifier of 32 bits, then the Payload Protocol
/// Identifier in the first fragment and a Fragment Sequence Number in each other.
public struct SCTPData: Hashable, Sendable, BitwiseCopyable {
  /// The chunk's number.
  public var tsn: TSN
  /// The stream that the message belongs to.
  public var stream: StreamID
  /// True when the message may overtake others of its stream (U).
  public var isUnordered: Bool
  /// The message begins here (B).
  public var isBeginning: Bool
  /// The message ends here (E).
  public var isEnd: Bool
  /// The sender waits for the acknowledgement (I, RFC 7053).
  public var isImmediate: Bool
  /// DATA: the Stream Sequence Number, 16 bits, without meaning for unordered messages. I-DATA: the Message Identifier.
  public var messageNumber: UInt32
  /// I-DATA: the fragment's number, 0 for the first. DATA: 0.
  public var fragmentNumber: UInt32
  /// The application's identifier of the content; 0 in fragments of I-DATA other than the first.
  public var payloadProtocol: UInt32
  /// True of I-DATA.
  public var isInterleaved: Bool

  /// Takes all values as they are.
  public init(
    tsn: TSN, stream: StreamID, isUnordered: Bool, isBeginning: Bool, isEnd: Bool, isImmediate: Bool,
    messageNumber: UInt32, fragmentNumber: UInt32, payloadProtocol: UInt32, isInterleaved: Bool
  ) {
    self.tsn = tsn
    self.stream = stream
    self.isUnordered = isUnordered
    self.isBeginning = isBeginning
    self.isEnd = isEnd
    self.isImmediate = isImmediate
    self.messageNumber = messageNumber
    self.fragmentNumber = fragmentNumber
    self.payloadProtocol = payloadProtocol
    self.isInterleaved = isInterleaved
  }

  /// Nil when the chunk is neither, or too short. `payload(of:)` has the rest, which may be empty, though it must not be.
  public init?(parsing chunk: SCTPChunk) {
    let isInterleaved = chunk.type == .interleavedData
    guard isInterleaved || chunk.type == .data else { return nil }
    var reader = ByteReader(chunk.value)
    guard chunk.value.count >= Self.headerSize(isInterleaved: isInterleaved) - SCTPChunk.headerSize,
      let tsn = reader.readUInt32(), let stream = reader.readUInt16(), let sequence = reader.readUInt16(),
      let third = reader.readUInt32()
    else { return nil }
    let flags = chunk.flags
    self.init(
      tsn: TSN(tsn), stream: StreamID(stream), isUnordered: flags & 4 != 0, isBeginning: flags & 2 != 0,
      isEnd: flags & 1 != 0, isImmediate: flags & 8 != 0, messageNumber: UInt32(sequence), fragmentNumber: 0,
      payloadProtocol: third, isInterleaved: isInterleaved)
    guard isInterleaved, let fourth = reader.readUInt32() else { return }
    messageNumber = third
    payloadProtocol = isBeginning ? fourth : 0
    fragmentNumber = isBeginning ? 0 : fourth
  }

  /// The user data of such a chunk that has been parsed.
  @_lifetime(copy chunk)
  public static func payload(of chunk: SCTPChunk) -> Span<UInt8> {
    let start = headerSize(isInterleaved: chunk.type == .interleavedData) - SCTPChunk.headerSize
    return chunk.value.extracting(min(start, chunk.value.count)..<chunk.value.count)
  }

  /// The bytes before the user data, the chunk's header included: 16 of DATA, 20 of I-DATA.
  @inlinable
  public static func headerSize(isInterleaved: Bool) -> Int { isInterleaved ? 20 : 16 }

  /// Writes the chunk, padding included.
  @_lifetime(writer: copy writer)
  public func write(payload: Span<UInt8>, into writer: inout ByteWriter) {
    let flags: UInt8 =
      (isImmediate ? 8 : 0) | (isUnordered ? 4 : 0) | (isBeginning ? 2 : 0) | (isEnd ? 1 : 0)
    let valueSize = Self.headerSize(isInterleaved: isInterleaved) - SCTPChunk.headerSize + payload.count
    SCTPChunk.writeHeader(
      isInterleaved ? .interleavedData : .data, flags: flags, valueSize: valueSize, into: &writer)
    writer.write(tsn.value)
    writer.write(stream.value)
    if isInterleaved {
      writer.write(UInt16(0))
      writer.write(messageNumber)
      writer.write(isBeginning ? payloadProtocol : fragmentNumber)
    } else {
      writer.write(UInt16(truncatingIfNeeded: messageNumber))
      writer.write(payloadProtocol)
    }
    writer.write(payload)
    writer.write(repeating: 0, count: -payload.count & 3)
  }
}

/// A pair of SCTP streams with the same number, one in each direction, which carries a data channel.
public struct StreamID: Hashable, Sendable, BitwiseCopyable {
  /// The streams' number, 0…65,534, as SCTP negotiates at most 65,535 streams.
  public var value: UInt16
  /// The streams with this number; nothing is checked.
  @inlinable
  public init(_ value: UInt16) { self.value = value }
}

/// Transmission sequence number: counts the DATA and I-DATA chunks of one direction (RFC 9260 §1.6), 32 bits.
public struct TSN: SerialNumber {
  /// The 32 bits on the wire.
  public var value: UInt32
  /// The transmission sequence number with these 32 bits.
  @inlinable
  public init(_ value: UInt32) { self.value = value }
}
