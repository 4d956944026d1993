package import RTCPrimitives

/// Decides when a source is asked for a key frame, so that an impatient viewer does not ask for one per packet.
package struct KeyFrameThrottle {
  /// The least time between two requests to a source, as libwebrtc has it.
  private static let interval = TimeDelta.milliseconds(300)

  private var last = Timestamp(nanoseconds: .min / 2)
  /// When a viewer who has lost the last key frame may get another.
  package private(set) var nextDeadline = Timestamp.distantFuture

  package init() {}

  /// A viewer needs a key frame. When the source was asked a moment ago, the key frame that is still to come, or on its
  /// way, serves this request too; but who asks again when it should have arrived has lost it, and gets another as soon
  /// as one may be asked for.
  /// - Parameter lastSent: when the last packet of a key frame left.
  /// - Returns: true when the source is to be asked now.
  package mutating func request(_ now: Timestamp, lastSent: Timestamp?, roundTrip: TimeDelta) -> Bool {
    guard now - last < Self.interval else {
      last = now
      nextDeadline = .distantFuture
      return true
    }
    if let lastSent, lastSent >= last, now - lastSent >= roundTrip { nextDeadline = last + Self.interval }
    return false
  }

  /// The source has made a key frame, or nothing is sent any more: what was put off is not needed.
  package mutating func clear() { nextDeadline = .distantFuture }
}
