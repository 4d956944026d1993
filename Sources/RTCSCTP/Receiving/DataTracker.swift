import RTCPrimitives
import RTCWire

/// The received chunks, and the schedule of acknowledgements (RFC 9260 §6.2).
struct DataTracker {
  /// The status of a chunk on its arrival.
  enum ChunkStatus {
    /// Not received before; `accept` takes it in.
    case new
    case duplicate
    /// Too far ahead, or one gap too many: as if it had been lost.
    case refused
  }

  private struct Run {
    /// Distances are kept from a fixed number, which never wraps: see `position`.
    var first: Int64
    var last: Int64
  }

  /// A gap block reaches no farther ahead.
  private static let maximumDistance: Int64 = 65_535
  /// Runs beyond the cumulative number that are remembered.
  private static let maximumRuns = 1_024
  /// Runs that a SACK reports: the nearest, which are repaired first.
  static let maximumGapBlocks = 128
  private static let maximumDuplicates = 16
  /// RFC 9260 §6.2: at most half a second; short, as peers measure round trips by it.
  private static let delay = TimeDelta.milliseconds(50)

  private let origin: TSN
  /// All up to here have been received.
  private var cumulative: Int64 = 0
  private var runs: [Run] = []
  private var duplicates: [TSN] = []
  private var packets = 0
  private(set) var isAckDue = false
  private var isAckNow = false
  /// When an acknowledgement that is held back must leave.
  private(set) var ackDeadline = Timestamp.distantFuture

  /// - Parameter initialTSN: of the first chunk that the peer will send.
  init(initialTSN: TSN) { origin = initialTSN.advanced(by: -1) }

  var cumulativeTSN: TSN { origin.advanced(by: Int(cumulative)) }
  var hasGaps: Bool { !runs.isEmpty }

  /// The chunk's place in the sequence, as a number that does not wrap.
  func position(of tsn: TSN) -> Int64 { cumulative + Int64(tsn.distance(from: cumulativeTSN)) }

  /// Whether the chunk is the next one without a gap.
  func isNext(_ tsn: TSN) -> Bool { tsn.distance(from: cumulativeTSN) == 1 }

  func status(of tsn: TSN) -> ChunkStatus {
    let position = position(of: tsn)
    if position <= cumulative { return .duplicate }
    if position == cumulative + 1 { return .new }
    if position > cumulative + Self.maximumDistance { return .refused }
    let index = indexOfRun(endingAtOrAfter: position)
    if index < runs.count, runs[index].first <= position { return .duplicate }
    let extendsNext = index < runs.count && runs[index].first == position + 1
    let extendsPrevious = index > 0 && runs[index - 1].last == position - 1
    return runs.count < Self.maximumRuns || extendsNext || extendsPrevious ? .new : .refused
  }

  /// Records a chunk whose status is `new`.
  mutating func accept(_ tsn: TSN) {
    let position = position(of: tsn)
    guard position > cumulative + 1 else { return advance(to: position) }
    let index = indexOfRun(endingAtOrAfter: position)
    let extendsNext = index < runs.count && runs[index].first == position + 1
    if index > 0, runs[index - 1].last == position - 1 {
      runs[index - 1].last = position
      guard extendsNext else { return }
      runs[index - 1].last = runs[index].last
      runs.remove(at: index)
    } else if extendsNext {
      runs[index].first = position
    } else {
      runs.insert(Run(first: position, last: position), at: index)
    }
  }

  /// Everything up to a number counts as received (RFC 3758 §3.6). False when that is not ahead, or absurdly far.
  mutating func skip(to tsn: TSN) -> Bool {
    let position = position(of: tsn)
    guard position > cumulative, position <= cumulative + Self.maximumDistance else { return false }
    advance(to: position)
    return true
  }

  private mutating func advance(to position: Int64) {
    cumulative = position
    var passed = 0
    while passed < runs.count, runs[passed].first <= cumulative + 1 {
      cumulative = max(cumulative, runs[passed].last)
      passed += 1
    }
    if passed > 0 { runs.removeFirst(passed) }
  }

  private func indexOfRun(endingAtOrAfter position: Int64) -> Int {
    // New chunks mostly come after all others.
    guard let last = runs.last, last.last >= position else { return runs.count }
    var (low, high) = (0, runs.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].last >= position { high = middle } else { low = middle + 1 }
    }
    return low
  }

  // MARK: Acknowledging

  mutating func noteDuplicate(_ tsn: TSN) {
    if duplicates.count < Self.maximumDuplicates { duplicates.append(tsn) }
    isAckDue = true
    isAckNow = true
  }

  /// An acknowledgement is wanted, at the end of this packet.
  mutating func ackNow() {
    isAckDue = true
    isAckNow = true
  }

  /// A packet with data has been read: every second one is acknowledged, and every one beyond a gap (RFC 9260 §6.2).
  mutating func packetReceived(now: Timestamp) {
    isAckDue = true
    packets += 1
    if packets >= 2 || hasGaps { isAckNow = true }
    if ackDeadline == .distantFuture { ackDeadline = now + Self.delay }
  }

  func mustAck(_ now: Timestamp) -> Bool { isAckDue && (isAckNow || ackDeadline <= now) }

  /// The contents of SACK; nothing is due after that.
  mutating func takeAck(maximumGapBlocks: Int) -> (gaps: [SCTPSelectiveAck.GapBlock], duplicates: [TSN]) {
    isAckDue = false
    isAckNow = false
    packets = 0
    ackDeadline = .distantFuture
    guard !runs.isEmpty || !duplicates.isEmpty else { return ([], []) }
    let gaps = runs.prefix(max(0, min(maximumGapBlocks, Self.maximumGapBlocks))).map { run in
      // Not farther than maximumDistance, by `status`; less once `cumulative` has moved on.
      SCTPSelectiveAck.GapBlock(
        start: UInt16(clamping: run.first - cumulative), end: UInt16(clamping: run.last - cumulative))
    }
    defer { duplicates.removeAll(keepingCapacity: true) }
    return (gaps, duplicates)
  }
}
