import RTCPrimitives

/// The most that the remote peer lets us send (REMB), while it says so.
struct RemoteMaximum {
  /// The value is repeated about every second, and expires otherwise.
  private static let age = TimeDelta.seconds(5)

  /// Alone it leads the rate up by no more than this factor a second: it may be made up.
  private static let increase = 2.0
  private static let increaseInterval = TimeDelta.seconds(1)

  private var value: BitRate?
  private var time = Timestamp.zero
  private var lastIncrease: Timestamp?

  mutating func set(_ rate: BitRate?, _ now: Timestamp) {
    value = rate.map { max(.zero, $0) }
    time = now
  }

  /// The next rate, if there is no other information about the path, from `rate` in bit/s; nil: no change.
  mutating func lead(from rate: Double, _ now: Timestamp) -> Double? {
    guard let value else { return nil }
    let wanted = Double(value.bitsPerSecond)
    guard wanted > rate else { return wanted }
    if let lastIncrease, now - lastIncrease < Self.increaseInterval { return nil }
    lastIncrease = now
    return min(wanted, rate * Self.increase)
  }

  func rate(_ now: Timestamp) -> BitRate? { now - time < Self.age ? value : nil }
}
