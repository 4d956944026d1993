package import RTCPrimitives
import RTCWire

/// How the remote peer takes forward error correction.
package enum FECFormat: Hashable, Sendable {
  /// A stream of its own beside the media (draft-ietf-payload-flexible-fec-scheme-03).
  case flexFEC(PayloadType)
  /// In the media's stream and its numbers (RFC 5109): media and repair packets alike are blocks of RED (RFC 2198).
  case ulpfec(PayloadType, red: PayloadType)

  /// The payload type that media packets leave under while they are protected; nil: their own.
  var red: PayloadType? {
    if case .ulpfec(_, let red) = self { red } else { nil }
  }

  /// The maximum length of a repair packet behind its RTP header, minus that of a protected packet behind its first 12
  /// bytes.
  var overhead: Int {
    switch self {
    case .flexFEC: FlexFECHeader.sizes.medium
    case .ulpfec: REDBlock.primaryHeaderSize + ULPFECHeader.sizes.long
    }
  }
}

/// Makes the repair packets of a block of consecutive media packets.
///
/// Media packets are added when written, before encryption: fields that change after that (transport-wide numbers, send
/// times) must still be 0, as receivers assume. Memory is allocated with the first block; a packet needs no allocation.
package struct FECEncoder {
  /// The number of packets in FlexFEC's mask of medium length; ULPFEC's has two more.
  package static let maximumBlock = 46
  /// No media packet is longer.
  private static let rowSize = 1_280

  /// One repair packet in the making.
  private struct Row {
    var fields = FECRecoveryFields()
    var mask = FECMask()
    /// Bytes of repair data.
    var count = 0
  }

  private var rows: [Row] = []
  /// The rows' repair data, `rowSize` bytes each.
  private var data: [UInt8] = []
  /// Repair packets of the block.
  private var rowCount = 0
  /// The number of the block's first packet; nil before it.
  private var base: SequenceNumber?
  private var packets = 0
  /// The timestamp of the block's last packet.
  private var timestamp = RTPTimestamp(0)
  /// The repair packet that is written next; nil while the block is not whole.
  private var next: Int?

  package init() {}

  /// Repair packets that are ready to be written.
  package var readyCount: Int { next.map { rowCount - $0 } ?? 0 }
  /// Whether the block is full.
  package var isFull: Bool { packets >= Self.maximumBlock }
  /// Whether media packets are to be added.
  package var isOpen: Bool { rowCount > 0 && next == nil }

  /// Begins a block with `count` repair packets, 1…`RepairPattern.maximumRows`.
  package mutating func begin(repairPackets count: Int) {
    rowCount = max(1, min(count, RepairPattern.maximumRows))
    if rows.count < rowCount {
      rows = Array(repeating: Row(), count: rowCount)
      data = Array(repeating: 0, count: rowCount * Self.rowSize)
    }
    for row in 0..<rowCount { rows[row] = Row() }
    base = nil
    packets = 0
    next = nil
  }

  /// Discards the block.
  package mutating func cancel() {
    rowCount = 0
    next = nil
  }

  /// Adds the next packet of the block.
  /// - Parameters:
  ///   - packet: RTP header and payload, not encrypted, without values that are filled in at sending.
  ///   - red: the position of a RED header of one byte, which is not protected; nil: none.
  package mutating func add(_ packet: Span<UInt8>, number: SequenceNumber, timestamp: RTPTimestamp, red: Int?) {
    let base = self.base ?? number
    let distance = number.distance(from: base)
    guard isOpen, packet.count >= RTPHeader.fixedSize, packet.count <= Self.rowSize,
      (0..<Self.maximumBlock).contains(distance)
    else { return }
    self.base = base
    self.timestamp = timestamp
    var fields = FECRecoveryFields(packet)
    if let red {
      fields.length -= 1
      fields.markerAndType = fields.markerAndType & 0x80 | packet[red] & 0x7F
    }
    let chosen = RepairPattern.rows(of: packets, among: rowCount)
    packets += 1
    for row in 0..<rowCount where chosen >> UInt32(row) & 1 == 1 {
      rows[row].fields.combine(fields)
      rows[row].mask.insert(distance)
      combine(packet.extracting(RTPHeader.fixedSize..<(red ?? packet.count)), at: 0, into: row)
      if let red { combine(packet.extracting(red + 1..<packet.count), at: red - RTPHeader.fixedSize, into: row) }
    }
  }

  /// Adds `bytes` to a row's repair data from `offset` on, which is not behind the row's end.
  private mutating func combine(_ bytes: Span<UInt8>, at offset: Int, into row: Int) {
    let common = max(0, min(bytes.count, rows[row].count - offset))
    let start = row * Self.rowSize + offset
    var all = data.mutableSpan
    var room = all._mutatingExtracting(start..<start + bytes.count)
    var shared = room._mutatingExtracting(0..<common)
    shared.combine(bytes.extracting(0..<common))
    if common < bytes.count {
      var rest = room._mutatingExtracting(common..<bytes.count)
      rest.copy(from: bytes.extracting(common..<bytes.count))
    }
    rows[row].count = max(rows[row].count, offset + bytes.count)
  }

  /// The block has all its packets.
  package mutating func finish() {
    guard isOpen else { return }
    next = 0
    skipEmpty()
  }

  /// A block of few packets may leave a row without any.
  private mutating func skipEmpty() {
    guard var row = next else { return }
    while row < rowCount, rows[row].mask.isEmpty { row += 1 }
    next = row
    if row == rowCount { cancel() }
  }

  /// The timestamp of the packets that the repair packets belong to.
  package var blockTimestamp: RTPTimestamp { timestamp }

  /// Writes the next repair packet's payload, RED header included, for packets of the stream `ssrc`. There must be one.
  @_lifetime(writer: copy writer)
  package mutating func writeNext(_ format: FECFormat, ssrc: SSRC, into writer: inout ByteWriter) {
    guard let row = next, let base, row < rowCount else { return }
    let (fields, mask, count) = (rows[row].fields, rows[row].mask, rows[row].count)
    switch format {
    case .flexFEC: FlexFECHeader(fields: fields, ssrc: ssrc, base: base, mask: mask).write(into: &writer)
    case .ulpfec(let payloadType, _):
      REDBlock.writePrimaryHeader(payloadType, into: &writer)
      ULPFECHeader(fields: fields, base: base, mask: mask, protectionLength: UInt16(count)).write(into: &writer)
    }
    writer.write(data.span.extracting(row * Self.rowSize..<row * Self.rowSize + count))
    next = row + 1
    skipEmpty()
  }
}
