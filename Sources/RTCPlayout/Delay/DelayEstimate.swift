import RTCPrimitives

/// Learns how much later than the fastest the packets or frames of one stream arrive.
///
/// A packet's transit is its arrival minus its media time. The two clocks need not agree, as only differences count.
/// The smallest transit of the last seconds is the baseline; a forgetting histogram holds the distances of the others.
/// The baseline follows a change of route and drifting clocks, without losing the learned distribution.
struct DelayEstimate: Sendable {
  struct Options: Sendable {
    /// The baseline is the smallest transit in so long a time: long enough for one packet to come without delay, short
    /// enough to follow the network to a longer route.
    var window = TimeDelta.seconds(2)
    /// In packets; see `ForgettingHistogram`.
    var memory = 300.0
    var classWidth = TimeDelta.microseconds(2_500)
    /// Together 2 s.
    var classCount = 800
  }

  private struct Transit {
    var value: TimeDelta
    var arrival: Timestamp
  }

  private let options: Options
  private var histogram: ForgettingHistogram
  /// The transit at which the histogram's first class begins.
  private var origin = TimeDelta.zero
  /// The transits that are, or will become, the smallest in the window: ever later and ever larger.
  private var smallest: [Transit] = []
  private var newest = Timestamp(nanoseconds: .min / 2)

  /// More candidates than this are not kept; only a hostile stream has them.
  private static let maximumCandidates = 1_024

  init(_ options: Options = Options()) {
    self.options = options
    histogram = ForgettingHistogram(classes: options.classCount, memory: options.memory)
  }

  /// The smallest transit of late; nil before the first packet.
  var baseline: TimeDelta? { smallest.first?.value }

  /// Learns of one packet.
  /// - Returns: how much later it came than the fastest.
  mutating func add(transit: TimeDelta, arrival: Timestamp) -> TimeDelta {
    let isFirst = smallest.isEmpty
    newest = max(newest, arrival)
    noteSmallest(Transit(value: transit, arrival: arrival))
    let baseline = smallest[0].value
    if isFirst { origin = baseline } else { follow(baseline) }
    let delay = transit - baseline
    histogram.add(classIndex(transit - origin))
    return delay
  }

  /// The delay that this share (0…1) of packets keep below; rounded up to a class.
  func quantile(_ share: Double) -> TimeDelta {
    guard let baseline, !histogram.isEmpty else { return .zero }
    let end = options.classWidth * Int64(histogram.quantile(share) + 1)
    return max(.zero, origin + end - baseline)
  }

  private mutating func noteSmallest(_ transit: Transit) {
    while let last = smallest.last, last.value >= transit.value { smallest.removeLast() }
    if smallest.count >= Self.maximumCandidates { smallest.removeLast() }
    smallest.append(transit)
    let start = newest - options.window
    if let first = smallest.firstIndex(where: { $0.arrival >= start }) { smallest.removeFirst(first) }
  }

  /// Keeps the baseline within the histogram's first class. When it rises, packets that were late by as much are late
  /// no more. When it falls, the network has become faster, and the same lateness is still to be expected.
  private mutating func follow(_ baseline: TimeDelta) {
    let offset = baseline - origin
    var classes = offset.nanoseconds / options.classWidth.nanoseconds
    if offset.nanoseconds % options.classWidth.nanoseconds < 0 { classes -= 1 }
    guard classes != 0 else { return }
    if classes > 0 { histogram.shift(by: -Int(min(1_000_000, classes))) }
    origin = origin + options.classWidth * classes
  }

  private func classIndex(_ delay: TimeDelta) -> Int {
    Int(max(0, min(Int64(options.classCount), delay.nanoseconds / options.classWidth.nanoseconds)))
  }
}
