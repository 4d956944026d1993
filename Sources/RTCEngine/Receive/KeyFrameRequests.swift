package import RTCPrimitives

/// Schedules key-frame requests to a remote sender: not more often than one can arrive, more and more rarely without an
/// answer, and sometimes by the other message, in case the sender ignores one of the two.
package struct KeyFrameRequests {
  package enum Request: Hashable, Sendable {
    /// RFC 4585 §6.3.1.
    case pictureLoss
    /// RFC 5104 §4.3.1, with its command number.
    case fullIntra(UInt8)
  }

  package static let leastInterval = TimeDelta.milliseconds(300)
  package static let longestInterval = TimeDelta.seconds(2)

  private var last: Timestamp?
  /// Requests since a key frame last came.
  private var inVain = 0
  private var command: UInt8 = 0

  package init() {}

  /// The first moment at which another request makes sense.
  package func earliest(roundTrip: TimeDelta) -> Timestamp {
    guard let last else { return .zero }
    let least = max(Self.leastInterval, roundTrip * 2)
    // 1, 1, 1, 2, 3, 4 … times as long: the first ones may just have been lost.
    return last + min(max(least, Self.longestInterval), least * Int64(max(1, inVain - 2)))
  }

  /// The request to send now; nil if one was sent a moment ago.
  package mutating func ask(_ now: Timestamp, roundTrip: TimeDelta, feedback: FeedbackMechanisms) -> Request? {
    guard now >= earliest(roundTrip: roundTrip) else { return nil }
    last = now
    inVain += 1
    let hasPLI = feedback.contains(.pli)
    let hasFIR = feedback.contains(.fir)
    // A remote peer without negotiated feedback mostly answers a PLI all the same.
    guard hasFIR, !hasPLI || inVain % 4 == 0 else { return .pictureLoss }
    command &+= 1
    return .fullIntra(command)
  }

  /// A key frame came.
  package mutating func keyFrameReceived() { inVain = 0 }
}
