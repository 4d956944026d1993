package import RTCPrimitives

/// Decides when a source is asked for a key frame, so that an impatient viewer does not ask for one per packet.
package struct KeyFrameThrottle {
  /// The least time between two requests to a source, as libwebrtc has it.
  private static let interval = TimeDelta.milliseconds(300)

  private var last = Timestamp(nanoseconds: .min / 2)
  /// When a viewer who has lost the last key frame may get another.
  package private(set) var nextDeadline = Timestamp.distantFuture

  package init() {}

  /// A viewer needs a key frame. If the source was asked a moment ago, the key frame that follows or is on its way
  /// serves this request too. A viewer that asks again when it should have arrived has lost it, and gets another as
  /// soon as allowed.
  /// - Parameter lastSent: the send time of a key frame's last packet.
  /// - Returns: true if the source is to be asked now.
  package mutating func request(_ now: Timestamp, lastSent: Timestamp?, roundTrip: TimeDelta) -> Bool {
    guard now - last < Self.interval else {
      last = now
      nextDeadline = .distantFuture
      return true
    }
    if let lastSent, lastSent >= last, now - lastSent >= roundTrip { nextDeadline = last + Self.interval }
    return false
  }

  /// The source has made a key frame, or sending has ended: a delayed request is dropped.
  package mutating func clear() { nextDeadline = .distantFuture }
}
