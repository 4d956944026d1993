import RTCPrimitives

/// The recent arrival rate and its maximum: the proved bandwidth of the path.
struct AcknowledgedBitrate {
  private static let window = TimeDelta.milliseconds(500)
  private static let leastTime = TimeDelta.milliseconds(150)
  private static let leastPackets = 5
  /// The most is remembered for five to ten seconds in which something was sent; a rest takes nothing away.
  private static let memory = TimeDelta.seconds(5)
  private static let longestGap = TimeDelta.milliseconds(200)

  /// Bits per second over the last half second of arrivals; nil before enough have come.
  private(set) var rate: Double?
  private var newer = 0.0
  private var older = 0.0
  private var age = TimeDelta.zero
  private var lastUpdate: Timestamp?

  /// The most that was delivered lately, bits per second.
  var proved: Double { max(newer, older) }

  mutating func update(_ arrivals: RecentArrivals, _ now: Timestamp) {
    let run = arrivals.newest(over: Self.window)
    if run.packets >= Self.leastPackets, max(run.arrivalSpan, run.sendSpan) >= Self.leastTime {
      rate = run.deliveryRate
      newer = max(newer, run.deliveryRate)
    }
    age = age + (lastUpdate.map { max(.zero, min(now - $0, Self.longestGap)) } ?? .zero)
    lastUpdate = now
    if age > Self.memory {
      age = .zero
      older = newer
      newer = rate ?? 0
    }
  }

  mutating func reset() { self = AcknowledgedBitrate() }
}
