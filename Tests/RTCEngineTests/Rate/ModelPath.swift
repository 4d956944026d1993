import RTCEngine
import RTCPrimitives

/// An estimator at the end of a path that the test makes up: packets leave at given times, and feedback on them comes
/// 50 ms after the last has arrived.
struct ModelPath {
  var estimator: GoogleCongestionControl
  var activity = SendActivity()
  var now: Timestamp
  /// The remote peer's clock is far from ours.
  var clockOffset = TimeDelta.seconds(-5_000)
  private var number: Int64 = 0

  /// The first probes were taken, and nothing is heard of them.
  init(limits: BitrateLimits = BitrateLimits(maximum: .megabitsPerSecond(8))) {
    self.init(now: .zero + .seconds(100), limits: limits)
    while estimator.takeProbe(now) != nil {}
  }

  /// The first probes are to be taken.
  init(now: Timestamp, limits: BitrateLimits) {
    self.now = now
    estimator = GoogleCongestionControl(limits: limits)
    estimator.start(now)
  }

  var target: Double { Double(estimator.estimate.target.bitsPerSecond) }
  var estimate: NetworkEstimate { estimator.estimate }

  /// A packet that has left, and when it arrives after `delay`; nil: never.
  mutating func leave(
    _ size: Int = 1_200, at time: Timestamp, delay: TimeDelta?, probe: UInt16? = nil
  ) -> PacketResult {
    activity.sentBytes += UInt64(size)
    activity.lastSent = time
    number += 1
    return PacketResult(
      packet: SentPacket(number: number, sendTime: time, size: size, kind: .video, probe: probe),
      arrival: delay.map { TimeDelta(nanoseconds: (time - Timestamp.zero).nanoseconds) + $0 + clockOffset })
  }

  /// Sends at `rate` for `duration` in packets of 1,200 bytes, with feedback each 50 ms.
  /// - Parameter delay: one way, of the packet with this index; nil: lost.
  mutating func run(
    _ duration: TimeDelta, rate: Double, packet: Int = 1_200, hasFeedback: Bool = true,
    delay: (Int) -> TimeDelta? = { _ in .milliseconds(20) }
  ) {
    let end = now + duration
    var index = 0
    var next = now
    while now < end {
      let tick = now + .milliseconds(50)
      var results: [PacketResult] = []
      while next < tick {
        results.append(leave(packet, at: next, delay: delay(index)))
        index += 1
        next += .seconds(Double(packet) * 8 / rate)
      }
      now = tick
      if !hasFeedback { activity.inFlight += results.count * packet } else { activity.inFlight = 0 }
      if hasFeedback, !results.isEmpty { estimator.receive(results, activity, now: now + .milliseconds(40)) }
      estimator.deadlineReached(now + .milliseconds(40), activity)
      while estimator.takeProbe(now) != nil {}
    }
  }

  /// Nothing is sent; deadlines are served while there are any.
  mutating func rest(_ duration: TimeDelta) {
    let end = now + duration
    while estimator.nextDeadline <= end {
      now = max(now, estimator.nextDeadline)
      estimator.deadlineReached(now, activity)
    }
    now = end
  }
}
