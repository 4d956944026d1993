public import RTCPrimitives

/// Transport-wide congestion control feedback: which packets arrived, and when
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |V=2|P| FMT=15  |    PT=205     |           length              |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                     SSRC of packet sender                     |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                      SSRC of media source                     |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |      base sequence number     |      packet status count      |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |       reference time (signed, 64 ms)          | fb pkt. count |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |        status chunks …        |  receive deltas (250 µs) …    |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///
///  run length    |0| S |       run length (13)     |   S: 0 lost, 1 one-byte delta,
///  status vector |1|0|   14 one-bit symbols        |      2 two-byte signed delta
///  status vector |1|1|   7 two-bit symbols         |
/// ```
///
/// The chunks and deltas are checked on parsing. Iterating gives every packet from the base number on, each in constant
/// time. A packet of a few bytes can report up to 65,535 lost packets, so a reader that does not need all of them passes
/// over runs with `skip(to:)` and `skipLost(to:)`, whose cost is bounded by the packet's size.
public struct TransportFeedback: ~Escapable {
  /// The fate of one packet.
  public struct Status: Hashable, Sendable, BitwiseCopyable {
    /// The packet's number among all packets of the transport.
    public var sequenceNumber: TransportSequenceNumber
    /// When it arrived on the receiver's clock, a multiple of 250 µs since an unknown origin; nil when it has not.
    /// The reference time behind it wraps every 12 days.
    public var arrival: TimeDelta?

    /// The fate of one packet; a nil arrival says that it has not arrived.
    public init(sequenceNumber: TransportSequenceNumber, arrival: TimeDelta?) {
      self.sequenceNumber = sequenceNumber
      self.arrival = arrival
    }
  }

  /// The unit of receive deltas, and that of the reference time: 256 of the former.
  static let tick = TimeDelta.microseconds(250)
  static let ticksPerReference: Int64 = 256
  /// The length of the feedback information before the chunks.
  static let fixedSize = 8

  /// The SSRC of the packet's sender.
  public let sender: SSRC
  /// The SSRC in the media source field; the feedback is on the packets of all streams all the same.
  public let media: SSRC
  /// The number of the first packet reported on.
  public let baseSequenceNumber: TransportSequenceNumber
  /// How many packets are reported on, lost ones included: 1…65,535.
  public let statusCount: Int
  /// Counts feedback packets, wrapping, so that lost ones show.
  public let feedbackCount: UInt8

  private let information: Span<UInt8>
  private var chunkOffset = TransportFeedback.fixedSize
  private var chunk = StatusChunk()
  private var deltaOffset: Int
  private var arrivalTicks: Int64
  /// How far the status that `next` returns is from the base sequence number; `statusCount` at the end.
  public private(set) var index = 0

  /// Nil when `packet` is no transport feedback, reports on nothing, uses the reserved symbol, or is too short for
  /// its chunks and deltas.
  @_lifetime(copy packet)
  public init?(parsing packet: RTCPPacket) {
    guard packet.kind == .transportFeedback, let (sender, media) = packet.feedbackSources else { return nil }
    let information = packet.feedbackInformation
    guard information.count >= Self.fixedSize else { return nil }
    let count = Int(information.networkOrder16(at: 2))
    guard count > 0, let deltas = Self.startOfDeltas(in: information, statusCount: count) else { return nil }
    let reference = Int64(Int32(bitPattern: information.networkOrder24(at: 4) << 8) >> 8)
    self.sender = sender
    self.media = media
    baseSequenceNumber = TransportSequenceNumber(information.networkOrder16(at: 0))
    statusCount = count
    feedbackCount = information[7]
    arrivalTicks = reference * Self.ticksPerReference
    deltaOffset = deltas
    self.information = information
  }

  /// The next packet's fate, in the order of the sequence numbers; nil at the end.
  @_lifetime(self: copy self)
  public mutating func next() -> Status? {
    guard index < statusCount else { return nil }
    readChunk()
    let symbol = chunk.removeFirst()
    let number = baseSequenceNumber.advanced(by: index)
    index += 1
    guard symbol != .lost else { return Status(sequenceNumber: number, arrival: nil) }
    if symbol == .smallDelta {
      arrivalTicks += Int64(information[deltaOffset])
    } else {
      arrivalTicks += Int64(Int16(bitPattern: information.networkOrder16(at: deltaOffset)))
    }
    deltaOffset += symbol.deltaSize
    return Status(sequenceNumber: number, arrival: Self.tick * arrivalTicks)
  }

  /// Skips statuses until `index` is `target`, or to the end. A run of lost packets is one step, and so is each symbol of a
  /// vector and each packet that arrived: all calls together take at most eight steps for a byte of the packet.
  /// - Returns: the steps taken.
  @_lifetime(self: copy self)
  @discardableResult
  public mutating func skip(to target: Int) -> Int {
    var steps = 0
    while index < min(target, statusCount) {
      steps += skipLost(to: target)
      guard index < min(target, statusCount) else { break }
      _ = next()
      steps += 1
    }
    return steps
  }

  /// Skips the lost packets up to the next one that arrived, or until `index` is `target`. A run-length chunk is one step.
  /// - Returns: the steps taken.
  @_lifetime(self: copy self)
  @discardableResult
  public mutating func skipLost(to target: Int) -> Int {
    var steps = 0
    while index < min(target, statusCount) {
      readChunk()
      let count = chunk.removeLost(atMost: min(target, statusCount) - index)
      guard count > 0 else { break }
      index += count
      steps += 1
    }
    return steps
  }

  /// Reads the next chunk when the one before is used up. A status must be left.
  @_lifetime(self: copy self)
  private mutating func readChunk() {
    while chunk.isEmpty {  // more than once only over runs of length 0
      chunk = StatusChunk(information.networkOrder16(at: chunkOffset))
      chunkOffset += 2
    }
  }

  /// Walks the chunks; nil when they, or the deltas they promise, do not fit.
  private static func startOfDeltas(in information: Span<UInt8>, statusCount: Int) -> Int? {
    var offset = fixedSize
    var left = statusCount
    var deltaSize = 0
    while left > 0 {
      guard information.count - offset >= 2 else { return nil }
      let chunk = StatusChunk(information.networkOrder16(at: offset))
      guard let size = chunk.deltaSize(first: left) else { return nil }
      deltaSize += size
      left -= min(left, chunk.count)
      offset += 2
      // A run of length 0 takes two bytes and reports nothing, so the loop is bounded by the packet's length.
    }
    return deltaSize <= information.count - offset ? offset : nil
  }
}

/// The fate of one packet as a status chunk says it.
enum StatusSymbol: UInt16 {
  case lost = 0
  case smallDelta = 1
  case largeDelta = 2

  /// The length of the packet's receive delta.
  var deltaSize: Int { Int(rawValue) }
}

/// The rest of one packet status chunk (§3.1.3, §3.1.4).
struct StatusChunk {
  private let bits: UInt16
  private(set) var count = 0
  private var position = 0

  /// An exhausted chunk.
  init() { bits = 0 }

  init(_ bits: UInt16) {
    self.bits = bits
    count = bits & 0x8000 == 0 ? Int(bits & 0x1FFF) : bits & 0x4000 == 0 ? 14 : 7
  }

  var isEmpty: Bool { position >= count }

  /// Takes the next symbol. The chunk must not be empty and must have passed `deltaSize(first:)`.
  mutating func removeFirst() -> StatusSymbol {
    defer { position += 1 }
    return symbol(at: position) ?? .lost
  }

  /// Removes lost packets from the front: as many as the run has, or one of a vector.
  /// - Returns: the number removed, at most `limit`; 0 if the next symbol is another.
  mutating func removeLost(atMost limit: Int) -> Int {
    guard !isEmpty, symbol(at: position) == .lost else { return 0 }
    let taken = bits & 0x8000 == 0 ? min(limit, count - position) : min(limit, 1)
    position += taken
    return taken
  }

  /// The length of the receive deltas of the first `limit` symbols; nil when one of them is reserved.
  func deltaSize(first limit: Int) -> Int? {
    let taken = min(count, limit)
    if bits & 0x8000 == 0 { return taken == 0 ? 0 : symbol(at: 0).map { $0.deltaSize * taken } }
    var size = 0
    for index in 0..<taken {
      guard let symbol = symbol(at: index) else { return nil }
      size += symbol.deltaSize
    }
    return size
  }

  private func symbol(at index: Int) -> StatusSymbol? {
    if bits & 0x8000 == 0 { return StatusSymbol(rawValue: bits >> 13) }
    if bits & 0x4000 == 0 { return StatusSymbol(rawValue: bits >> UInt16(13 - index) & 1) }
    return StatusSymbol(rawValue: bits >> UInt16(2 * (6 - index)) & 3)
  }
}
