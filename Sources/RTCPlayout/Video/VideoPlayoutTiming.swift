package import RTCPrimitives
package import RTCWire

/// Says when to show each picture of one video, so that pictures follow one another as they were taken although the
/// network brings them unevenly.
///
/// A picture's *delay* is how long after the fastest possible arrival it is shown. The delay that is wanted follows from
/// how late nearly all pictures come and how long they take to decode; it is approached slowly, so that motion stays even.
package struct VideoPlayoutTiming: Sendable {
  package struct Options: Sendable {
    /// The share of pictures that are to come in time, 0…1.
    package var share = 0.95
    package var minimumDelay = TimeDelta.zero
    package var maximumDelay = TimeDelta.seconds(2)
    /// The time from passing on a picture until it is visible.
    package var displayTime = TimeDelta.milliseconds(5)
    /// The delay changes by no more than this part of the time that passes: motion a tenth too slow or too fast.
    package var largestSlew = 0.1

    package init() {}
  }

  /// When to show a picture.
  package struct Decision: Hashable, Sendable {
    /// The time to show it, never before that of the picture before; `now` if it is late or must be shown at once.
    package var showTime: Timestamp
    /// Whether its time has passed already.
    package var isLate: Bool
  }

  package struct Statistics: Hashable, Sendable {
    package var frames = 0
    package var late = 0
    /// The delay in use, and its target.
    package var delay = TimeDelta.zero
    package var target = TimeDelta.zero
    /// How often the sender began another timeline.
    package var restarts = 0
  }

  private static let leap = TimeDelta.seconds(3)

  package let options: Options
  package private(set) var statistics = Statistics()
  /// The bounds the sender asks for by the playout-delay header extension; the newest stays.
  package var requested: PlayoutDelay?
  /// A delay added to the network's need, such as to wait for the sound; 0…2 s.
  package var addedDelay = TimeDelta.zero { didSet { addedDelay = max(.zero, min(.seconds(2), addedDelay)) } }

  private var delays = Self.newEstimate()
  /// How long pictures take to decode, in milliseconds.
  private var decoding = ForgettingHistogram(classes: 500, memory: 300)
  private var newest: Int64?
  private var lastShown: (time: Timestamp, position: Int64)?
  /// The delay in use; nil before the first picture.
  private var current: TimeDelta?
  private var changed = Timestamp.zero

  package init(_ options: Options = Options()) { self.options = options }

  private static func newEstimate() -> DelayEstimate {
    var options = DelayEstimate.Options()
    // A resting screen sends few pictures.
    options.window = .seconds(10)
    options.memory = 200
    options.classWidth = .milliseconds(5)
    options.classCount = 600
    return DelayEstimate(options)
  }

  /// Learns of a picture, as soon as it is complete.
  ///
  /// - Parameters:
  ///   - timestamp: at 90 kHz.
  ///   - arrival: when its last packet came.
  package mutating func noteArrival(_ timestamp: RTPTimestamp, at arrival: Timestamp) {
    let position = newest.map { Extended<RTPTimestamp>($0).nearest(timestamp).value } ?? Int64(timestamp.value)
    newest = max(newest ?? position, position)
    let transit = (arrival - .zero) - Self.duration(position)
    if let baseline = delays.baseline, (transit - baseline).nanoseconds.magnitude > Self.leap.nanoseconds.magnitude {
      delays = Self.newEstimate()
      newest = position
      current = nil
      lastShown = nil
      statistics.restarts += 1
    }
    _ = delays.add(transit: transit, arrival: arrival)
  }

  /// Learns how long a picture took to decode.
  package mutating func noteDecoding(_ time: TimeDelta) { decoding.add(Int(max(0, min(10_000, time.milliseconds)))) }

  /// The delay that is wanted now.
  package var target: TimeDelta {
    if isImmediate { return .zero }
    let decodeTime = decoding.isEmpty ? TimeDelta.zero : .milliseconds(Int64(decoding.quantile(options.share)) + 1)
    let needed = delays.quantile(options.share) + decodeTime + options.displayTime
    let own = max(options.minimumDelay, min(options.maximumDelay, needed))
    guard let requested else { return own + addedDelay }
    // The sender's limits also apply to the delay added for the sound.
    return max(requested.minimum, min(requested.maximum, own + addedDelay))
  }

  /// The sender wants each picture shown as soon as it is there.
  private var isImmediate: Bool { requested?.maximum == .zero }

  /// The time to show the picture; call `noteArrival` before.
  package mutating func schedule(_ timestamp: RTPTimestamp, now: Timestamp) -> Decision {
    guard let baseline = delays.baseline, let newest else { return Decision(showTime: now, isLate: false) }
    let position = Extended<RTPTimestamp>(newest).nearest(timestamp).value
    let target = target
    let delay = slew(to: target, now)
    statistics.frames += 1
    statistics.target = target
    guard !isImmediate else {
      statistics.delay = .zero
      lastShown = (now, position)
      return Decision(showTime: now, isLate: false)
    }
    statistics.delay = delay
    let due = Timestamp.zero + (baseline + Self.duration(position) + delay)
    let isLate = due + options.displayTime < now
    if isLate { statistics.late += 1 }
    var showTime = max(now, due)
    if let lastShown, position > lastShown.position { showTime = max(showTime, lastShown.time) }
    lastShown = (showTime, position)
    return Decision(showTime: showTime, isLate: isLate)
  }

  private mutating func slew(to target: TimeDelta, _ now: Timestamp) -> TimeDelta {
    defer { changed = max(changed, now) }
    guard let last = current else {
      current = target
      return target
    }
    let passed = max(0, min(1_000_000_000, (now - changed).nanoseconds))
    let reach = TimeDelta.nanoseconds(Int64(Double(passed) * options.largestSlew))
    let moved = max(last - reach, min(last + reach, target))
    // Bounds of the sender's hold at once.
    let bounded = requested.map { max($0.minimum, min($0.maximum, moved)) } ?? moved
    current = bounded
    return bounded
  }

  private static func duration(_ ticks: Int64) -> TimeDelta { .nanoseconds(ticks &* 100_000 / 9) }
}
