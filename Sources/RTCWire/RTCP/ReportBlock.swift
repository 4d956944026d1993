public import RTCPrimitives

/// A receiver's report on one source, within sender and receiver reports (RFC 3550 §6.4.1).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                        SSRC of source                         |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// | fraction lost |       cumulative number of packets lost       |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |           extended highest sequence number received           |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                      interarrival jitter                      |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                         last SR (LSR)                         |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                   delay since last SR (DLSR)                  |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
public struct ReportBlock: Hashable, Sendable, BitwiseCopyable {
  /// The length of a block in bytes.
  public static let size = 24
  /// The most blocks one report can carry.
  public static let maximumCount = 31

  /// The stream that the block reports on.
  public var source: SSRC
  /// Lost since the previous report, in 1/256.
  public var fractionLost: UInt8
  /// Since the beginning, −2²³ … 2²³−1; duplicates make it negative.
  public var cumulativeLost: Int32
  /// The sequence number in the low 16 bits, the wraps above.
  public var highestSequenceNumber: UInt32
  /// In units of the RTP clock.
  public var jitter: UInt32
  /// The compact time of the last sender report received; zero when there was none.
  public var lastSenderReport: CompactNTPTimestamp
  /// Between receiving that report and sending this block; carried in units of 1/65,536 s.
  public var delaySinceLastSenderReport: TimeDelta

  /// Takes all values as they are; `write` clamps `cumulativeLost` to 24 bits and the delay to 0…18 h.
  public init(
    source: SSRC, fractionLost: UInt8, cumulativeLost: Int32, highestSequenceNumber: UInt32, jitter: UInt32,
    lastSenderReport: CompactNTPTimestamp, delaySinceLastSenderReport: TimeDelta
  ) {
    self.source = source
    self.fractionLost = fractionLost
    self.cumulativeLost = cumulativeLost
    self.highestSequenceNumber = highestSequenceNumber
    self.jitter = jitter
    self.lastSenderReport = lastSenderReport
    self.delaySinceLastSenderReport = delaySinceLastSenderReport
  }

  /// Nil when fewer than 24 bytes are given; more are ignored.
  public init?(parsing bytes: Span<UInt8>) {
    guard bytes.count >= Self.size else { return nil }
    source = SSRC(bytes.networkOrder32(at: 0))
    fractionLost = bytes[4]
    cumulativeLost = Int32(bitPattern: bytes.networkOrder24(at: 5) << 8) >> 8
    highestSequenceNumber = bytes.networkOrder32(at: 8)
    jitter = bytes.networkOrder32(at: 12)
    lastSenderReport = CompactNTPTimestamp(bytes.networkOrder32(at: 16))
    delaySinceLastSenderReport = CompactNTPTimestamp.interval(bytes.networkOrder32(at: 20))
  }

  /// Writes the block, 24 bytes.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) {
    writer.write(source.value)
    writer.write(fractionLost)
    writer.writeUInt24(UInt32(bitPattern: max(-0x80_0000, min(cumulativeLost, 0x7F_FFFF))))
    writer.write(highestSequenceNumber)
    writer.write(jitter)
    writer.write(lastSenderReport.value)
    writer.write(CompactNTPTimestamp.units(delaySinceLastSenderReport))
  }

  /// The round-trip time between this block and the sender report that it answers (RFC 3550 §6.4.1), never negative;
  /// nil if the receiver had no report yet.
  /// - Parameter arrival: the arrival time of the block, on the clock that stamped the sender report.
  public func roundTripTime(arrival: NTPTimestamp) -> TimeDelta? {
    guard lastSenderReport.value != 0 else { return nil }
    return max(.zero, arrival.compact.since(lastSenderReport) - delaySinceLastSenderReport)
  }
}

/// The report blocks of a sender or receiver report, read in place.
public struct ReportBlocks: ~Escapable {
  private let bytes: Span<UInt8>
  /// The number of blocks, 0…31.
  public let count: Int

  /// Nil when `packet` is no report or too short for the blocks it promises.
  @_lifetime(copy packet)
  public init?(parsing packet: RTCPPacket) {
    let start: Int
    switch packet.kind {
    case .senderReport: start = SenderReport.fixedSize
    case .receiverReport: start = ReceiverReport.fixedSize
    default: return nil
    }
    let end = start + packet.count * ReportBlock.size
    guard end <= packet.body.count else { return nil }
    bytes = packet.body.extracting(start..<end)
    count = packet.count
  }

  /// Block `index`, which must be below `count`.
  public subscript(index: Int) -> ReportBlock {
    let start = index * ReportBlock.size
    guard let block = ReportBlock(parsing: bytes.extracting(start..<start + ReportBlock.size)) else {
      preconditionFailure("ReportBlocks: the length was checked on parsing")
    }
    return block
  }
}
