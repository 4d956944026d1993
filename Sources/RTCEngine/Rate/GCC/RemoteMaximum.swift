import RTCPrimitives

/// The most that the remote peer lets us send (REMB), while it says so.
struct RemoteMaximum {
  /// It is said again every second or so, and forgotten when it is not.
  private static let age = TimeDelta.seconds(5)

  private var value: BitRate?
  private var time = Timestamp.zero

  mutating func set(_ rate: BitRate?, _ now: Timestamp) {
    value = rate.map { max(.zero, $0) }
    time = now
  }

  func rate(_ now: Timestamp) -> BitRate? { now - time < Self.age ? value : nil }
}
