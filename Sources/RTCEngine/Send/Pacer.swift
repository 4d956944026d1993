package import RTCPrimitives

/// Spreads packets so that a large frame does not arrive as one burst that overflows a queue on the way.
///
/// A small frame leaves whole and at once: up to a burst's worth is sent without a gap, because a viewer that sees gaps
/// inside a frame holds it back.
package struct Pacer {
  /// What the pacer may use while nothing says that the network is narrow; large first pictures then appear at once.
  package static let freeRate = BitRate.megabitsPerSecond(25)
  /// Pacing rate over target rate on a narrow network.
  package static let narrowFactor = 2.5
  /// What may leave at once after a pause: this long at the pacing rate …
  package static let burst = TimeDelta.milliseconds(10)
  /// … and at least this many bytes, about the ten packets that any connection may begin with (RFC 6928).
  package static let minimumBurst = 12_000
  /// Packets of a large frame leave in groups that are this far apart, so that a group can be sent by one call.
  static let quantum = TimeDelta.milliseconds(2)

  package private(set) var rate = Pacer.freeRate
  private var burst = Pacer.burst
  /// When the bytes sent so far have drained at the pacing rate.
  private var drained = Timestamp.zero

  package init() {}

  /// - Parameters:
  ///   - target: what the network is thought to bear.
  ///   - isNarrow: packets were lost lately, or `target` has had to fall: no more than a multiple of it may leave.
  package mutating func update(target: BitRate, isNarrow: Bool) {
    let paced = target.scaled(by: Self.narrowFactor)
    rate = isNarrow ? paced : max(paced, Self.freeRate)
    burst = max(Self.burst, rate.time(forBytes: Self.minimumBurst))
  }

  /// When something that waits may leave; `.distantFuture` while nothing waits for the pacer.
  package private(set) var nextDeadline = Timestamp.distantFuture

  /// Something waits that may not leave yet.
  package mutating func hold() { nextDeadline = nextSend() }

  /// Nothing waits, or something has begun to leave again.
  package mutating func release() { nextDeadline = .distantFuture }

  package func maySend(_ now: Timestamp) -> Bool { drained - burst <= now }

  /// When the next group of packets may leave.
  package func nextSend() -> Timestamp { drained - burst + Self.quantum }

  package mutating func sent(bytes: Int, now: Timestamp) {
    drained = max(drained, now) + rate.time(forBytes: bytes)
  }
}
