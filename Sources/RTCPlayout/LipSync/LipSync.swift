package import RTCEngine
package import RTCPrimitives

/// Synchronises sound and picture of one sender. Each stream's sender reports relate its timestamps to the sender's
/// wall clock (RFC 3550 §6.4.1); the playing times show how far behind it each stream is. The faster one is delayed, a
/// little more each time.
package struct LipSync: Sendable {
  /// The additional delay of each stream.
  package struct Delays: Hashable, Sendable {
    package var audio = TimeDelta.zero
    package var video = TimeDelta.zero

    package init() {}
  }

  /// A larger difference means that a clock is wrong.
  private static let largestSkew = TimeDelta.seconds(5)
  /// A smaller difference is not noticeable.
  private static let tolerance = TimeDelta.milliseconds(10)
  private static let largestDelay = TimeDelta.seconds(2)
  /// A delay changes once in so long a time, and by no more than the step.
  private static let interval = TimeDelta.milliseconds(200)
  private static let step = TimeDelta.milliseconds(20)

  package private(set) var delays = Delays()
  /// The recent delay of sound relative to the picture of the same moment; nil while unknown.
  package private(set) var skew: TimeDelta?

  private var audioClock = RemoteClock(rate: 48_000)
  private var videoClock = RemoteClock(rate: 90_000)
  /// The delay of each stream behind the sender's wall clock; only differences count.
  private var audioLag: TimeDelta?
  private var videoLag: TimeDelta?
  private var lastChange: Timestamp?

  package init() {}

  /// Takes a sender report of the sound's stream.
  package mutating func noteAudioReport(_ clock: SenderClock) { audioClock.note(clock) }

  /// Takes a sender report of the picture's stream.
  package mutating func noteVideoReport(_ clock: SenderClock) { videoClock.note(clock) }

  /// The sound at `timestamp` (48 kHz) is played at `time`.
  package mutating func noteHeard(_ timestamp: RTPTimestamp, at time: Timestamp) {
    audioLag = audioClock.wallTime(of: timestamp).map { (time - .zero) - $0 }
  }

  /// The picture at `timestamp` (90 kHz) is seen at `time`.
  package mutating func noteShown(_ timestamp: RTPTimestamp, at time: Timestamp) {
    videoLag = videoClock.wallTime(of: timestamp).map { (time - .zero) - $0 }
  }

  /// Compares both and changes the delays by a step, when it is time to.
  package mutating func update(at now: Timestamp) -> Delays {
    guard let audioLag, let videoLag else { return delays }
    if let lastChange, now - lastChange < Self.interval { return delays }
    let measured = audioLag - videoLag
    guard abs(measured.nanoseconds) < Self.largestSkew.nanoseconds else {
      skew = nil
      return delays
    }
    lastChange = now
    // One picture late or early is no reason yet.
    let skew = self.skew.map { $0 + (measured - $0) / 4 } ?? measured
    self.skew = skew
    guard abs(skew.nanoseconds) > Self.tolerance.nanoseconds else { return delays }
    let change = max(.zero - Self.step, min(Self.step, skew / 4))
    delay(videoBy: change)
    // The effect of this change is measured later.
    self.skew = skew - change
    return delays
  }

  /// Lets the picture wait longer, or the sound less; the other way round when negative.
  private mutating func delay(videoBy change: TimeDelta) {
    if change > .zero {
      let taken = min(change, delays.audio)
      delays.audio = delays.audio - taken
      delays.video = min(Self.largestDelay, delays.video + (change - taken))
    } else {
      let wanted = .zero - change
      let taken = min(wanted, delays.video)
      delays.video = delays.video - taken
      delays.audio = min(Self.largestDelay, delays.audio + (wanted - taken))
    }
  }
}
