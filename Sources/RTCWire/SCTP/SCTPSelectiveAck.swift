public import RTCPrimitives

/// SACK: acknowledges received chunks and advertises the receive window (RFC 9260 §3.3.4).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |   Type = 3    |  Chunk Flags  |         Chunk Length          |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                      Cumulative TSN Ack                       |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |          Advertised Receiver Window Credit (a_rwnd)           |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// | Number of Gap Ack Blocks = N  |  Number of Duplicate TSNs = M |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |    Gap Ack Block #1 Start     |     Gap Ack Block #1 End      …
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                        Duplicate TSN 1                        …
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
public struct SCTPSelectiveAck: ~Escapable {
  /// A run of chunks received beyond the cumulative acknowledgement, as distances from it; both ends are in it.
  public struct GapBlock: Hashable, Sendable, BitwiseCopyable {
    /// The distance of the first chunk; at least 2 in blocks written here.
    public var start: UInt16
    /// The distance of the last.
    public var end: UInt16
    /// The run from `start` to `end`; nothing is checked.
    public init(start: UInt16, end: UInt16) {
      self.start = start
      self.end = end
    }
  }

  /// Everything up to this one has been received.
  public let cumulativeTSN: TSN
  /// Free bytes in the receiver's window.
  public let receiverWindow: UInt32
  /// How many runs follow.
  public let gapBlockCount: Int
  /// How many chunks came more than once since the last SACK.
  public let duplicateCount: Int
  private let blocks: Span<UInt8>

  /// Nil when the chunk is another or shorter than it says. The runs may overlap or be empty: nothing is checked.
  @_lifetime(copy chunk)
  public init?(parsing chunk: SCTPChunk) {
    var reader = ByteReader(chunk.value)
    guard chunk.type == .selectiveAck, let tsn = reader.readUInt32(), let window = reader.readUInt32(),
      let gaps = reader.readUInt16(), let duplicates = reader.readUInt16(),
      reader.remaining >= 4 * (Int(gaps) + Int(duplicates))
    else { return nil }
    cumulativeTSN = TSN(tsn)
    receiverWindow = window
    gapBlockCount = Int(gaps)
    duplicateCount = Int(duplicates)
    blocks = reader.readRest()
  }

  /// Run `index`, which must be less than `gapBlockCount`.
  public func gapBlock(_ index: Int) -> GapBlock {
    let at = 4 * index
    return GapBlock(
      start: UInt16(blocks[at]) << 8 | UInt16(blocks[at + 1]),
      end: UInt16(blocks[at + 2]) << 8 | UInt16(blocks[at + 3]))
  }

  /// The bytes that `write` needs for so many runs and duplicates.
  public static func size(gapBlocks: Int, duplicates: Int) -> Int {
    SCTPChunk.headerSize + 12 + 4 * (gapBlocks + duplicates)
  }

  /// Writes a SACK.
  @_lifetime(writer: copy writer)
  public static func write(
    cumulativeTSN: TSN, receiverWindow: UInt32, gapBlocks: Span<GapBlock>, duplicates: Span<TSN>,
    into writer: inout ByteWriter
  ) {
    let size = size(gapBlocks: gapBlocks.count, duplicates: duplicates.count)
    SCTPChunk.writeHeader(.selectiveAck, valueSize: size - SCTPChunk.headerSize, into: &writer)
    writer.write(cumulativeTSN.value)
    writer.write(receiverWindow)
    writer.write(UInt16(gapBlocks.count))
    writer.write(UInt16(duplicates.count))
    for i in gapBlocks.indices {
      writer.write(gapBlocks[i].start)
      writer.write(gapBlocks[i].end)
    }
    for i in duplicates.indices { writer.write(duplicates[i].value) }
  }
}
