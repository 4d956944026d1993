import RTCPrimitives

/// The packets that arrived last, by feedback: their rate and transit times.
///
/// The clocks of the two peers are unrelated. The first packet is the origin of both, so a transit time is correct
/// except for a constant; only differences of transit times have a meaning.
struct RecentArrivals {
  /// One packet; times in nanoseconds since the first packet left, or arrived.
  struct Arrival {
    var sent: Int64 = 0
    var arrived: Int64 = 0
    var size = 0
    /// The expected wait of the packet behind earlier ones on a line at our target rate: not a sign of congestion.
    var expected: Int64 = 0
    /// How long its own bits take on such a line: the same of every packet of its size, and no queue.
    var own: Int64 = 0

    /// The transit time, minus that of the first packet.
    var transit: Int64 { arrived &- sent }
  }

  /// The statistics of a run of the newest arrivals.
  struct Run {
    var packets = 0
    /// Bytes without those of the first packet, which was sent before the run.
    var bytes = 0
    var arrivalSpan = TimeDelta.zero
    var sendSpan = TimeDelta.zero
    /// The shortest time under way, nanoseconds.
    var minimumTransit = Int64.max
    /// The minimum transit time, without each packet's own bits.
    var minimumBare = Int64.max
    /// The minimum transit time, without the expected wait.
    var minimumUnexpected = Int64.max
    var minimumBareUnexpected = Int64.max

    /// Bits per second at which the packets came. A receiver can forge it.
    var arrivalRate: Double { Self.rate(bytes, arrivalSpan) }
    /// Bits per second at which they left.
    var sendRate: Double { Self.rate(bytes, sendSpan) }
    /// The delivery rate in bit/s: at most the sent rate, whatever the arrival times.
    var deliveryRate: Double { Self.rate(bytes, max(arrivalSpan, sendSpan)) }

    private static func rate(_ bytes: Int, _ span: TimeDelta) -> Double {
      Double(bytes) * 8 / max(span.seconds, 1e-4)
    }
  }

  /// Enough for half a second at 12 Mbit/s.
  private static let capacity = 1_024
  /// A pause of more than this ends a run: nothing was to be sent.
  private static let rest = TimeDelta.seconds(2)
  private var ring: [Arrival] = []
  /// All arrivals so far; the newest is at `count - 1`.
  private var count = 0

  mutating func add(_ arrival: Arrival) {
    if ring.isEmpty { ring = [Arrival](repeating: Arrival(), count: Self.capacity) }
    ring[count & (Self.capacity - 1)] = arrival
    count += 1
  }

  mutating func removeAll() { count = 0 }

  /// The newest arrivals that together took at least `span`.
  /// - Parameters:
  ///   - packets: at least so many, unless those alone took three times `span`.
  ///   - wait: the run ends before the first packet that waited no longer than this beyond `base`.
  func newest(over span: TimeDelta, packets: Int = 0, waiting wait: TimeDelta? = nil, base: QueueingDelay.Base? = nil)
    -> Run
  {
    var run = Run()
    guard count > 0 else { return run }
    var last = ring[(count - 1) & (Self.capacity - 1)]
    var (firstSent, lastSent, firstArrived, lastArrived) = (last.sent, last.sent, last.arrived, last.arrived)
    var sizeOfFirst = 0
    for index in stride(from: count - 1, through: max(0, count - Self.capacity), by: -1) {
      let arrival = ring[index & (Self.capacity - 1)]
      guard last.arrived &- arrival.arrived < Self.rest.nanoseconds else { break }
      if let wait, let base, base.wait(arrival.transit, bare: arrival.transit &- arrival.own) <= wait { break }
      run.packets += 1
      run.bytes += arrival.size
      run.minimumTransit = min(run.minimumTransit, arrival.transit)
      run.minimumBare = min(run.minimumBare, arrival.transit &- arrival.own)
      run.minimumUnexpected = min(run.minimumUnexpected, arrival.transit &- arrival.expected)
      run.minimumBareUnexpected = min(
        run.minimumBareUnexpected, arrival.transit &- arrival.expected &- arrival.own)
      if arrival.arrived <= firstArrived { sizeOfFirst = arrival.size }
      (firstSent, lastSent) = (min(firstSent, arrival.sent), max(lastSent, arrival.sent))
      (firstArrived, lastArrived) = (min(firstArrived, arrival.arrived), max(lastArrived, arrival.arrived))
      last = arrival
      let time = TimeDelta(nanoseconds: lastArrived &- firstArrived)
      if time >= span, run.packets >= packets || time >= span * 3 { break }
    }
    run.bytes -= sizeOfFirst
    run.arrivalSpan = TimeDelta(nanoseconds: lastArrived &- firstArrived)
    run.sendSpan = TimeDelta(nanoseconds: lastSent &- firstSent)
    return run
  }
}
