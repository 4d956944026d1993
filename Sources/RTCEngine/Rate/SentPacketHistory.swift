package import RTCPrimitives
package import RTCWire

/// Numbers every sent packet with a transport-wide sequence number, keeps the packets of the last seconds, and
/// evaluates feedback on them.
package struct SentPacketHistory {
  private typealias Number = Extended<TransportSequenceNumber>

  /// One packet of the ring.
  private struct Entry {
    var sendTime = Timestamp.zero
    var size: UInt16 = 0
    var kind = SentPacket.Kind.video
    var fate = Fate.unknown
    var probe: UInt16 = 0
    var isProbe = false
    /// All bytes that left before it.
    var before: UInt64 = 0
  }

  private enum Fate: UInt8 { case unknown, lost, arrived }

  /// Feedback comes several times a second; by then hardly more packets have left.
  package static let maximumCapacity = 4_096
  private static let initialCapacity = 64
  /// The ring grows rather than forget a packet younger than this.
  package static let retention = TimeDelta.seconds(10)

  private var next = Number(0)
  /// The first number no feedback has spoken of yet.
  private var reported = Number(0)
  private var lastFeedback: UInt8?
  /// A power of two of entries; empty until the first packet.
  private var ring: [Entry] = []
  /// The first number that is still in the ring.
  private var oldest: Int64 = 0
  /// All bytes that left.
  private var total: UInt64 = 0

  package init() {}

  package var hasFeedback: Bool { lastFeedback != nil }
  /// The number of the packet that leaves next.
  package var nextNumber: TransportSequenceNumber { next.low }

  /// Bytes that no feedback has covered, nor a later packet.
  package var bytesInFlight: Int {
    let first = max(reported.value, oldest)
    return first < next.value ? Int(total - ring[slot(first)].before) : 0
  }

  /// The send time of the first of them; nil if there are none.
  package var oldestInFlight: Timestamp? {
    let first = max(reported.value, oldest)
    return first < next.value ? ring[slot(first)].sendTime : nil
  }

  /// Keeps the packet that left as `nextNumber`.
  /// - Parameter size: bytes of the UDP payload.
  package mutating func add(_ kind: SentPacket.Kind, size: Int, now: Timestamp, probe: UInt16? = nil) {
    makeRoom(now)
    ring[slot(next.value)] = Entry(
      sendTime: now, size: UInt16(clamping: size), kind: kind, probe: probe ?? 0, isProbe: probe != nil,
      before: total)
    total += UInt64(size)
    next = Number(next.value + 1)
  }

  /// True when feedback has said that this packet of the last seconds arrived.
  package func hasArrived(_ number: TransportSequenceNumber) -> Bool {
    let number = next.nearest(number)
    return isKept(number) && ring[slot(number.value)].fate == .arrived
  }

  /// Whether no feedback has covered this recent packet, nor a later one.
  package func isInFlight(_ number: TransportSequenceNumber) -> Bool {
    let number = next.nearest(number)
    return isKept(number) && number >= reported
  }

  /// Appends the new results in `feedback` to `results`, in the order of numbers: for each packet reported for the
  /// first time whether it arrived or was lost, and each packet reported lost before that has arrived after all.
  ///
  /// The cost is bounded by the feedback's bytes and by the packets sent since the last one, whatever number of
  /// statuses the feedback claims: statuses outside the history, and known losses, are skipped by runs.
  /// - Returns: the number of steps, for tests.
  @discardableResult
  package mutating func receive(_ feedback: consuming TransportFeedback, into results: inout [PacketResult]) -> Int {
    let base = next.nearest(feedback.baseSequenceNumber)
    var steps = 0
    // A receiver reports from one arrival to another: what lies between two reports in a row was lost.
    if let lastFeedback, feedback.feedbackCount == lastFeedback &+ 1, base > reported, base < next {
      for value in max(reported.value, oldest)..<max(base.value, oldest) {
        report(value, arrival: nil, into: &results)
        steps += 1
      }
      reported = base
    }
    lastFeedback = feedback.feedbackCount
    guard base < next else { return steps }  // never sent
    steps += feedback.skip(to: Int(oldest - base.value))
    while base.value + Int64(feedback.index) < next.value {
      if base.value + Int64(feedback.index) < reported.value {
        steps += feedback.skipLost(to: Int(reported.value - base.value))
      }
      guard base.value + Int64(feedback.index) < next.value, let status = feedback.next() else { break }
      steps += 1
      let number = base.value + Int64(feedback.index) - 1
      if number >= reported.value {
        reported = Number(number + 1)
        report(number, arrival: status.arrival, into: &results)
      } else if let arrival = status.arrival, ring[slot(number)].fate != .arrived {
        report(number, arrival: arrival, into: &results)
      }
    }
    return steps
  }

  private mutating func report(_ value: Int64, arrival: TimeDelta?, into results: inout [PacketResult]) {
    let entry = ring[slot(value)]
    ring[slot(value)].fate = arrival == nil ? .lost : .arrived
    results.append(
      PacketResult(
        packet: SentPacket(
          number: value, sendTime: entry.sendTime, size: Int(entry.size), kind: entry.kind,
          probe: entry.isProbe ? entry.probe : nil),
        arrival: arrival, wasReportedLost: entry.fate == .lost))
  }

  // MARK: - The ring

  private func slot(_ value: Int64) -> Int { Int(value) & (ring.count - 1) }

  private func isKept(_ number: Number) -> Bool { number < next && number.value >= oldest }

  private mutating func makeRoom(_ now: Timestamp) {
    guard Int(next.value - oldest) == ring.count else { return }
    let isOldestNeeded = ring.isEmpty || now - ring[slot(oldest)].sendTime < Self.retention
    if isOldestNeeded, ring.count < Self.maximumCapacity {
      var larger = [Entry](repeating: Entry(), count: max(Self.initialCapacity, ring.count * 2))
      for value in oldest..<next.value { larger[Int(value) & (larger.count - 1)] = ring[slot(value)] }
      ring = larger
    } else {
      oldest += 1
    }
  }
}
