package import RTCPrimitives

/// Holds back the first picture of a connection for a moment, until the first probes have told how large it may be. A
/// picture that is coded for a slow path because nothing is known stays without detail for several round trips.
package struct FirstMeasurement {
  /// Feedback comes every 100 ms at first.
  package static let standardWait = TimeDelta.milliseconds(120)
  /// For probes that must be sent again.
  private static let longerWait = TimeDelta.milliseconds(80)
  /// Where the round trip is known to be longer the answer would come too late.
  private static let longestRoundTrip = TimeDelta.milliseconds(80)

  private let wait: TimeDelta
  /// When pictures may leave, whatever is known by then; `.distantFuture` while none are held back.
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
