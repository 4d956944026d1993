package import RTCMedia
package import RTCPrimitives

/// Validates capture times. Pure values: the present is an argument.
enum BelievableTime {
  /// Capture times further back than this, or further ahead, are on some other clock.
  static let oldest = TimeDelta.seconds(10)
  static let newest = TimeDelta.seconds(1)

  static func holds(_ time: Timestamp, now: Timestamp) -> Bool { time >= now - oldest && time <= now + newest }
}

/// Makes the times of pictures strictly increasing and near the present.
package struct PictureClock {
  private var last: Timestamp?

  package init() {}

  /// The time of a picture for which the plugin gave `given` (0: now).
  package func time(_ given: Int64, now: Timestamp) -> (time: Timestamp, fault: PluginFault?) {
    var time = given == 0 ? now : Timestamp(nanoseconds: given)
    var fault: PluginFault?
    if given != 0, !BelievableTime.holds(time, now: now) { (time, fault) = (now, .timeFarOff) }
    guard let last, time <= last else { return (time, fault) }
    if given != 0, time < last, fault == nil { fault = .timeBackwards }
    return (last + .microseconds(1), fault)
  }

  package mutating func note(_ time: Timestamp) { last = time }
}

/// Holds pictures to the rate asked for, on a grid of due times, a quarter of an interval of jitter forgiven.
package struct PicturePacing {
  private let interval: TimeDelta
  private var due: Timestamp?

  /// - Parameter frameRate: above 0.
  package init(frameRate: Double) { interval = .seconds(1 / frameRate) }

  /// When a picture will be taken; nil when one is taken now.
  package func opening(now: Timestamp) -> Timestamp? {
    guard let due, now < due - interval / 4 else { return nil }
    return due - interval / 4
  }

  package mutating func note(at now: Timestamp) { due = max(due ?? now, now - interval) + interval }
}

/// Places sound without times directly behind earlier sound, up to a limit ahead of the present.
package struct SoundClock {
  /// Sound is taken this much before it is due.
  package static let lead = TimeDelta.milliseconds(100)
  /// The lag beyond which sound without a time starts at the present again.
  private static let longestLag = TimeDelta.milliseconds(100)
  private var end: Timestamp?

  package init() {}

  package func time(_ given: Int64, now: Timestamp) -> (time: Timestamp, fault: PluginFault?) {
    guard given != 0 else {
      guard let end, end >= now - Self.longestLag else { return (now, nil) }
      return (end, nil)
    }
    let time = Timestamp(nanoseconds: given)
    guard BelievableTime.holds(time, now: now) else { return (now, .timeFarOff) }
    // A little overlap is jitter, more is a clock that goes backwards.
    guard let end, time < end - .milliseconds(20) else { return (time, nil) }
    return (end, .timeBackwards)
  }

  package mutating func note(_ sound: AudioFrame) { end = sound.captureTime + sound.duration }
}
