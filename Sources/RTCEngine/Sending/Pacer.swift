import RTCPrimitives

/// Spreads packets so that a large frame does not arrive as one burst that overflows a queue on the way.
///
/// A small frame leaves whole and at once: up to `burst` worth of the pacing rate is sent without a gap, because a viewer
/// that sees gaps inside a frame holds it back.
struct Pacer {
  /// What the pacer may always use while little is lost; large first pictures then appear at once.
  static let freeRate = BitRate.megabitsPerSecond(25)
  /// Pacing rate over target rate when packets are being lost.
  static let lossFactor = 2.5
  static let burst = TimeDelta.milliseconds(10)

  private var rate = Pacer.freeRate
  /// When the bytes sent so far have drained at the pacing rate.
  private var drained = Timestamp.zero

  mutating func update(target: BitRate, loss: Double) {
    let paced = target.scaled(by: Self.lossFactor)
    rate = loss < 0.02 ? max(paced, Self.freeRate) : paced
  }

  /// When the next packet may leave; in the past or `now` means at once.
  func nextSend() -> Timestamp { drained - Self.burst }

  func maySend(_ now: Timestamp) -> Bool { nextSend() <= now }

  mutating func sent(bytes: Int, now: Timestamp) {
    drained = max(drained, now) + rate.time(forBytes: bytes)
  }
}
