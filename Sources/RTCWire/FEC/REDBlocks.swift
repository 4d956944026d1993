public import RTCPrimitives

/// One block of a RED payload (RFC 2198 §3): its header is four bytes before a redundant block and one byte before the primary
/// one, which is the last.
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |1|  block PT   |      timestamp offset     |   block length    |   redundant
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |0|  block PT   |                                                 primary
/// +-+-+-+-+-+-+-+-+
/// ```
public struct REDBlock: Hashable, Sendable {
  /// The length of the header of a redundant block.
  public static let redundantHeaderSize = 4
  /// The length of the header of the primary block.
  public static let primaryHeaderSize = 1
  /// A block further back cannot be stated (14 bits).
  public static let maximumTimestampOffset: UInt32 = 0x3FFF
  /// A longer redundant block cannot be stated (10 bits).
  public static let maximumRedundantSize = 0x3FF

  /// The format of the block.
  public var payloadType: PayloadType
  /// How far before the packet's own timestamp the block belongs; 0 for the primary one.
  public var timestampOffset: UInt32
  /// The position of the block in the payload.
  public var range: Range<Int>

  /// A block of these fields.
  public init(payloadType: PayloadType, timestampOffset: UInt32, range: Range<Int>) {
    self.payloadType = payloadType
    self.timestampOffset = timestampOffset
    self.range = range
  }

  /// Writes the header of a redundant block of `count` bytes, at most `maximumRedundantSize`.
  @_lifetime(writer: copy writer)
  public static func writeRedundantHeader(
    _ payloadType: PayloadType, timestampOffset: UInt32, count: Int, into writer: inout ByteWriter
  ) {
    precondition(timestampOffset <= maximumTimestampOffset && count <= maximumRedundantSize, "REDBlock: out of range")
    writer.write(
      UInt32(0x80 | payloadType.value & 0x7F) << 24 | timestampOffset << 10 | UInt32(truncatingIfNeeded: count))
  }

  /// Writes the header of the primary block.
  @_lifetime(writer: copy writer)
  public static func writePrimaryHeader(_ payloadType: PayloadType, into writer: inout ByteWriter) {
    writer.write(payloadType.value & 0x7F)
  }
}

/// Walks the blocks of a RED payload: redundant ones first, in the order they stand, the primary one last.
public struct REDBlocks: Sendable, BitwiseCopyable {
  /// More blocks than this are nothing that anybody sends.
  public static let maximumCount = 16

  /// The position of the next header.
  private var header = 0
  /// The start of the next block.
  private var data: Int
  private var isAtEnd = false

  /// Nil when the headers do not end, or say more bytes than there are.
  public init?(parsing payload: Span<UInt8>) {
    var offset = 0
    var sizes = 0
    var count = 0
    while true {
      guard offset < payload.count, count < Self.maximumCount else { return nil }
      count += 1
      guard payload[offset] & 0x80 != 0 else { break }
      guard offset + REDBlock.redundantHeaderSize <= payload.count else { return nil }
      sizes += Int(payload.networkOrder16(at: offset + 2) & 0x3FF)
      offset += REDBlock.redundantHeaderSize
    }
    data = offset + REDBlock.primaryHeaderSize
    guard data + sizes <= payload.count else { return nil }
  }

  /// The next block of the payload that this was made of; nil after the primary one.
  public mutating func next(in payload: Span<UInt8>) -> REDBlock? {
    guard !isAtEnd else { return nil }
    let payloadType = PayloadType(payload[header] & 0x7F)
    guard payload[header] & 0x80 != 0 else {
      isAtEnd = true
      return REDBlock(payloadType: payloadType, timestampOffset: 0, range: data..<payload.count)
    }
    let field = payload.networkOrder32(at: header)
    let count = Int(field & 0x3FF)
    let block = REDBlock(
      payloadType: payloadType, timestampOffset: field >> 10 & 0x3FFF, range: data..<data + count)
    header += REDBlock.redundantHeaderSize
    data += count
    return block
  }
}
