public import RTCPrimitives

/// The bounds and steps of the loss-stepped bitrate rule. The defaults are the field's customary ones for one video.
public struct BitrateLimits: Hashable, Sendable {
  /// Never below, whatever is lost.
  public var minimum: BitRate = .kilobitsPerSecond(100)
  /// Never above.
  public var maximum: BitRate = .megabitsPerSecond(6)
  /// Before anything is known of the network.
  public var start: BitRate = .megabitsPerSecond(1)
  /// Growth when nothing is lost, as a fraction of the rate.
  public var stepUp = 0.15
  /// Retreat at high loss.
  public var stepDown = 0.15
  /// Retreat at critical loss.
  public var criticalStepDown = 0.25
  /// Loss of the last second from which the critical step is taken, 0…1.
  public var criticalLoss = 0.10
  /// Loss of the last ten seconds from which the rate steps down.
  public var highLoss = 0.05
  /// Loss of the last ten seconds below which it steps up.
  public var lowLoss = 0.01

  public init() {}

  /// Defaults with another ceiling; the start never lies above it.
  public init(maximum: BitRate) {
    self.maximum = Swift.max(maximum, minimum)
    start = Swift.min(start, self.maximum)
  }

  /// The customary bounds of one sound: 6 to 96 kbit/s.
  public static var audio: BitrateLimits {
    var limits = BitrateLimits()
    limits.minimum = .kilobitsPerSecond(6)
    limits.maximum = .kilobitsPerSecond(96)
    limits.start = .kilobitsPerSecond(64)
    return limits
  }

  func clamp(_ rate: BitRate) -> BitRate { Swift.max(minimum, Swift.min(maximum, rate)) }
}

/// Steps the target bitrate by the packet loss the receiver reports: each second against the last second's loss, every
/// five seconds against that of the last ten.
package struct LossBasedBitrate {
  package private(set) var limits: BitrateLimits
  package private(set) var target: BitRate
  /// Receiver's own ceiling (REMB), if it sends one.
  private var remoteMaximum: BitRate?

  /// Packets expected and lost in each of the last ten seconds, the current one last.
  private var seconds: [(expected: Int, lost: Int)] = [(0, 0)]
  private var ticks = 0

  package static let tick = TimeDelta.seconds(1)

  package init(limits: BitrateLimits) {
    self.limits = limits
    target = limits.clamp(limits.start)
  }

  /// Counts what feedback says arrived or not.
  package mutating func report(expected: Int, lost: Int) {
    guard expected > 0 else { return }
    seconds[seconds.count - 1].expected += expected
    seconds[seconds.count - 1].lost += min(max(0, lost), expected)
  }

  package mutating func setRemoteMaximum(_ rate: BitRate?) { remoteMaximum = rate }

  package mutating func setLimits(_ limits: BitrateLimits) {
    self.limits = limits
    target = limits.clamp(target)
  }

  /// The loss over the last second reported about, 0…1.
  package private(set) var lastSecondLoss = 0.0

  /// The rate to encode at now.
  package var current: BitRate { remoteMaximum.map { max(limits.minimum, min(target, $0)) } ?? target }

  /// Packets were lost within the last ten seconds, or the target has fallen below where it started: sending must not go
  /// far beyond it.
  package var isNarrow: Bool {
    max(lastSecondLoss, tenSecondLoss ?? 0) >= Self.narrowLoss || current < limits.clamp(limits.start)
  }
  private static let narrowLoss = 0.02

  /// Nil when nothing was sent: then nothing was learned.
  private var tenSecondLoss: Double? {
    let expected = seconds.reduce(0) { $0 + $1.expected }
    guard expected > 0 else { return nil }
    return Double(seconds.reduce(0) { $0 + $1.lost }) / Double(expected)
  }

  /// Closes one second and steps. Call once a second.
  package mutating func tick() {
    ticks += 1
    let last = seconds[seconds.count - 1]
    lastSecondLoss = last.expected > 0 ? Double(last.lost) / Double(last.expected) : 0
    if lastSecondLoss >= limits.criticalLoss {
      target = limits.clamp(target.scaled(by: 1 - limits.criticalStepDown))
    } else if ticks % 5 == 0 {
      stepByTenSeconds()
    }
    seconds.append((0, 0))
    if seconds.count > 10 { seconds.removeFirst() }
  }

  private mutating func stepByTenSeconds() {
    guard let loss = tenSecondLoss else { return }
    if loss >= limits.highLoss {
      target = limits.clamp(target.scaled(by: 1 - limits.stepDown))
    } else if loss < limits.lowLoss {
      target = limits.clamp(target.scaled(by: 1 + limits.stepUp))
    }
  }
}
