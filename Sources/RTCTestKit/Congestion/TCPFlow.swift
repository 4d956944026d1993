package import RTCPrimitives

/// A bulk transfer as other traffic in a bottleneck: slow start, congestion avoidance, one halving for each round trip
/// with loss (RFC 5681, NewReno without its details).
package struct TCPFlow {
  package struct Options: Sendable {
    package var start = TimeDelta.zero
    package var delay = TimeDelta.milliseconds(50)
    /// Bytes of one transfer; nil: it never ends.
    package var transfer: Int?
    /// Between the end of a transfer and the next.
    package var idle = TimeDelta.seconds(2)

    package init() {}
  }

  struct Segment {
    var number: Int
    var sent: Timestamp
  }

  static let segmentSize = 1_500

  let options: Options
  private var window = 10.0
  private var threshold = 1e6
  private var next = 0
  /// All below have arrived or are taken for lost.
  private var acknowledgedUpTo = 0
  private var inFlight = 0
  private var recoveryEnd = -1
  private var left: Int
  private var lastProgress = Timestamp.zero
  private var resume: Timestamp
  private var hasWork = true
  /// Sent segments that were not taken yet.
  var departures: [Segment] = []

  init(_ options: Options) {
    self.options = options
    left = options.transfer ?? .max
    resume = .zero + options.start
    lastProgress = resume
  }

  var nextDeadline: Timestamp {
    if inFlight == 0 { return resume }
    return hasWork ? .zero : lastProgress + .seconds(1)
  }

  mutating func run(_ now: Timestamp) {
    hasWork = false
    guard now >= resume else { return }
    if inFlight > 0, now - lastProgress >= .seconds(1) {  // time-out
      threshold = max(2, window / 2)
      window = 1
      if left != .max { left += inFlight * Self.segmentSize }
      inFlight = 0
      acknowledgedUpTo = next
      lastProgress = now
    }
    while Double(inFlight) < window, left > 0 {
      if inFlight == 0 { lastProgress = now }
      departures.append(Segment(number: next, sent: now))
      next += 1
      inFlight += 1
      left -= Self.segmentSize
    }
  }

  mutating func acknowledged(_ segment: Segment, _ now: Timestamp) {
    guard segment.number >= acknowledgedUpTo else { return }
    let lost = segment.number - acknowledgedUpTo
    inFlight = max(0, inFlight - lost - 1)
    acknowledgedUpTo = segment.number + 1
    lastProgress = now
    hasWork = true
    if lost > 0 {
      if left != .max { left += lost * Self.segmentSize }
      if segment.number > recoveryEnd {
        threshold = max(2, window / 2)
        window = threshold
        recoveryEnd = next
      }
    } else {
      window += window < threshold ? 1 : 1 / window
    }
    if left <= 0, inFlight == 0, let transfer = options.transfer {
      left = transfer
      window = 10
      threshold = 1e6
      resume = now + options.idle
    }
  }
}
