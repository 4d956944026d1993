public import RTCPrimitives

/// FORWARD TSN, or I-FORWARD-TSN if messages may be interleaved: the sender has given up all chunks up to a number (RFC
/// 3758 §3.2, RFC 8260 §2.3.1).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |   Type = 192  |  Flags = 0x00 |        Length = Variable      |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                      New Cumulative TSN                       |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |         Stream-1              |       Stream Sequence-1       …
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
///
/// The entries of I-FORWARD-TSN (type 194) are stream, 15 reserved bits and U, and a Message Identifier of 32 bits.
public struct SCTPForwardTSN: ~Escapable {
  /// The last message of a stream that will not come.
  public struct Skip: Hashable, Sendable, BitwiseCopyable {
    /// The message's stream.
    public var stream: StreamID
    /// I-FORWARD-TSN: whether it concerns unordered messages. FORWARD TSN lists ordered ones only.
    public var isUnordered: Bool
    /// Stream Sequence Number or Message Identifier of the message.
    public var messageNumber: UInt32

    /// Takes all values as they are.
    public init(stream: StreamID, isUnordered: Bool, messageNumber: UInt32) {
      self.stream = stream
      self.isUnordered = isUnordered
      self.messageNumber = messageNumber
    }
  }

  /// Everything up to this one counts as received.
  public let newCumulativeTSN: TSN
  /// True of I-FORWARD-TSN.
  public let isInterleaved: Bool
  /// How many streams are listed.
  public let skipCount: Int
  private let entries: Span<UInt8>

  /// Nil when the chunk is neither, or too short.
  @_lifetime(copy chunk)
  public init?(parsing chunk: SCTPChunk) {
    guard chunk.type == .forwardTSN || chunk.type == .interleavedForwardTSN else { return nil }
    var reader = ByteReader(chunk.value)
    guard let tsn = reader.readUInt32() else { return nil }
    newCumulativeTSN = TSN(tsn)
    isInterleaved = chunk.type == .interleavedForwardTSN
    entries = reader.readRest()
    skipCount = entries.count / Self.entrySize(isInterleaved: isInterleaved)
  }

  /// Entry `index`, which must be less than `skipCount`.
  public func skip(_ index: Int) -> Skip {
    let size = Self.entrySize(isInterleaved: isInterleaved)
    var reader = ByteReader(entries.extracting(index * size..<(index + 1) * size))
    let stream = StreamID(reader.readUInt16() ?? 0)
    let second = reader.readUInt16() ?? 0
    guard isInterleaved else { return Skip(stream: stream, isUnordered: false, messageNumber: UInt32(second)) }
    return Skip(stream: stream, isUnordered: second & 1 == 1, messageNumber: reader.readUInt32() ?? 0)
  }

  /// The bytes of an entry.
  public static func entrySize(isInterleaved: Bool) -> Int { isInterleaved ? 8 : 4 }
  /// The bytes that `write` needs.
  public static func size(skips: Int, isInterleaved: Bool) -> Int {
    SCTPChunk.headerSize + 4 + skips * entrySize(isInterleaved: isInterleaved)
  }

  /// Writes the chunk.
  @_lifetime(writer: copy writer)
  public static func write(
    newCumulativeTSN: TSN, skips: Span<Skip>, isInterleaved: Bool, into writer: inout ByteWriter
  ) {
    let size = size(skips: skips.count, isInterleaved: isInterleaved)
    SCTPChunk.writeHeader(
      isInterleaved ? .interleavedForwardTSN : .forwardTSN, valueSize: size - SCTPChunk.headerSize, into: &writer)
    writer.write(newCumulativeTSN.value)
    for i in skips.indices {
      writer.write(skips[i].stream.value)
      if isInterleaved {
        writer.write(UInt16(skips[i].isUnordered ? 1 : 0))
        writer.write(skips[i].messageNumber)
      } else {
        writer.write(UInt16(truncatingIfNeeded: skips[i].messageNumber))
      }
    }
  }
}
