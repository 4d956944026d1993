import RTCEngine
import RTCPrimitives

/// The capture time of each frame, as a viewer can know it: the sender's steps from the arrival of the first one on.
struct CaptureTimeline: Sendable {
  /// Further from its arrival than this, a frame is of another timeline.
  private static let leap = TimeDelta.seconds(3)

  private var last: (timestamp: RTPTimestamp, time: Timestamp)?

  mutating func time(of frame: ReceivedFrame) -> Timestamp {
    var time = frame.received
    if let last {
      let steps = Int64(frame.timestamp.distance(from: last.timestamp))
      let expected = last.time + .nanoseconds(steps * 100_000 / 9)
      if abs((expected - frame.received).nanoseconds) < Self.leap.nanoseconds { time = min(expected, frame.received) }
    }
    last = (frame.timestamp, time)
    return time
  }
}
