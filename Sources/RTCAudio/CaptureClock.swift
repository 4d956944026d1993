package import RTCPrimitives

/// Derives the capture times of recorded sound from its sample count and its arrival.
///
/// Sound arrives with a varying delay, but never early: the earliest arrivals relate the count to time, and a pile that
/// arrives at once after a stall is no later than without it. Only when everything stays late for a second was sound
/// lost. (The library's own interpolation takes seconds to settle on a device whose buffer changes, as it does when a
/// stream begins.)
package struct CaptureClock {
  private static let rate: Int64 = 48_000
  /// How much later the count may drift in a second of sound, for a device whose clock is slow.
  private static let drift = TimeDelta.milliseconds(1)
  private static let lateness = TimeDelta.milliseconds(40)
  /// How far from none a device's delay may begin, and how much it may change with a second of sound.
  private static let firstDelayLimit = TimeDelta.milliseconds(40)
  private static let delayDrift = TimeDelta.microseconds(7_500)

  private enum Standing {
    case unknown
    /// When sample 0 arrived, or would have.
    case known(TimeDelta)
    /// Late since that sample; the earliest arrival since then.
    case late(TimeDelta, since: Int64, earliest: TimeDelta)
  }

  private var standing = Standing.unknown
  private var count: Int64 = 0
  private var delay: TimeDelta?

  package init() {}

  /// Takes note of sound that was counted and not delivered.
  package mutating func skip(_ samples: Int) { count += Int64(samples) }

  /// - Parameters:
  ///   - samples: the number of samples of each channel that have just arrived.
  ///   - deviceDelay: their delay in the device; negative if they will be heard later. Nil while unknown.
  /// - Returns: the capture time of the first of them.
  package mutating func time(ofSamples samples: Int, arrivedAt now: Timestamp, deviceDelay: TimeDelta?) -> Timestamp {
    let first = count
    count += Int64(samples)
    let sound = Self.duration(Int64(samples))
    follow(deviceDelay, over: sound)
    let origin = follow(TimeDelta(nanoseconds: now.nanoseconds) - Self.duration(count), over: sound)
    return Timestamp(nanoseconds: (origin + Self.duration(first)).nanoseconds) - (delay ?? .zero)
  }

  private mutating func follow(_ arrival: TimeDelta, over sound: TimeDelta) -> TimeDelta {
    let rise = sound.nanoseconds * Self.drift.nanoseconds / 1_000_000_000
    switch standing {
    case .unknown:
      standing = .known(arrival)
    case .known(let origin):
      if arrival > origin + Self.lateness {
        standing = .late(origin, since: count, earliest: arrival)
      } else {
        standing = .known(min(arrival, origin + TimeDelta(nanoseconds: rise)))
      }
    case .late(let origin, let since, let earliest):
      if arrival <= origin + Self.lateness {
        standing = .known(min(arrival, origin + TimeDelta(nanoseconds: rise)))
      } else if count - since >= Self.rate {
        standing = .known(min(arrival, earliest))
      } else {
        standing = .late(origin, since: since, earliest: min(arrival, earliest))
      }
    }
    switch standing {
    case .unknown: return arrival
    case .known(let origin), .late(let origin, _, _): return origin
    }
  }

  private mutating func follow(_ deviceDelay: TimeDelta?, over sound: TimeDelta) {
    guard let deviceDelay else { return }
    guard let current = delay else {
      delay = max(.zero - Self.firstDelayLimit, min(Self.firstDelayLimit, deviceDelay))
      return
    }
    let step = TimeDelta(nanoseconds: sound.nanoseconds * Self.delayDrift.nanoseconds / 1_000_000_000)
    delay = current + max(.zero - step, min(step, deviceDelay - current))
  }

  private static func duration(_ samples: Int64) -> TimeDelta { .ticks(samples, atRate: rate) }
}
