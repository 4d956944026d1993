package import RTCPrimitives

/// Delays the first picture of a connection briefly, until the first probes have shown how large it may be. A picture
/// coded for a slow path, because no measurement exists, lacks detail for several round trips.
package struct FirstMeasurement {
  /// Feedback comes every 100 ms at first.
  package static let standardWait = TimeDelta.milliseconds(120)
  /// For probes that must be sent again.
  private static let longerWait = TimeDelta.milliseconds(80)
  /// Above this round-trip time the result would come too late.
  private static let longestRoundTrip = TimeDelta.milliseconds(80)

  private let wait: TimeDelta
  /// The time at which pictures are sent in any case; `.distantFuture` while none are delayed.
  package private(set) var deadline = Timestamp.distantFuture
  private var isExtended = false

  /// - Parameter wait: the longest that pictures are held back; zero: never.
  package init(wait: TimeDelta) { self.wait = wait }

  /// Pictures are held back.
  package var isOn: Bool { deadline != .distantFuture }

  /// The first probes leave now.
  /// - Parameter roundTrip: nil while it is not known.
  package mutating func begin(_ now: Timestamp, roundTrip: TimeDelta?) {
    guard wait > .zero, (roundTrip ?? .zero) <= Self.longestRoundTrip else { return }
    deadline = now + wait
  }

  /// The first probes said nothing, and are sent again.
  package mutating func extend() {
    guard isOn, !isExtended else { return }
    isExtended = true
    deadline = deadline + Self.longerWait
  }

  package mutating func end() { deadline = .distantFuture }
}
