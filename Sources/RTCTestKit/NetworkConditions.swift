package import RTCPrimitives

/// How one direction of an emulated network treats datagrams.
package struct NetworkConditions: Sendable {
  /// Loss in bursts (Gilbert–Elliott): everything is lost in the bad state, nothing in the good one.
  package struct BurstLoss: Sendable {
    /// The chance that a datagram finds the good state turned bad, 0…1.
    package var begin: Double
    /// The chance that a datagram finds the bad state turned good again, 0…1: one in the mean length of a burst.
    package var end: Double

    /// Makes bursts; both chances 0…1.
    package init(begin: Double, end: Double) {
      self.begin = begin
      self.end = end
    }
  }

  /// The chance that a datagram is lost, 0…1, beside what bursts take.
  package var loss = 0.0
  /// Loss in bursts, added to `loss`; nil for none.
  package var burstLoss: BurstLoss?
  /// One way.
  package var delay: TimeDelta = .zero
  /// A random addition to the delay, evenly spread over 0…`jitter`.
  package var jitter: TimeDelta = .zero
  /// Whether jitter may let a datagram overtake an earlier one.
  package var reorders = false
  /// The chance that a datagram arrives twice, 0…1.
  package var duplication = 0.0
  /// The bottleneck's rate; nil: endless.
  package var rate: BitRate?
  /// The bytes that may wait at the bottleneck; further packets are dropped (drop-tail).
  package var queueCapacity = 64 * 1024
  /// Counted per datagram against `rate`, beside its payload: IPv4 and UDP headers.
  package var overhead = 28

  /// A perfect wire without delay.
  package init() {}

  /// A perfect wire with some delay.
  package static func delayed(_ delay: TimeDelta) -> NetworkConditions {
    var conditions = NetworkConditions()
    conditions.delay = delay
    return conditions
  }

  /// All packets are lost.
  package static var broken: NetworkConditions {
    var conditions = NetworkConditions()
    conditions.loss = 1
    return conditions
  }
}
