public import RTCPrimitives

/// The bounds and steps of the loss-stepped bitrate rule. The defaults are the field's customary ones for one video.
public struct BitrateLimits: Hashable, Sendable {
  /// The minimum, whatever the loss.
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

  /// The defaults: 100 kbit/s to 6 Mbit/s, beginning at 1 Mbit/s.
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
