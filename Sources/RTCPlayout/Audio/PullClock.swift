import RTCPrimitives

/// Derives the playing times of blocks of 10 ms from the times of requests. A sound server requests several at once and
/// then none for a while; the time of the last of them counts, since no later packet can be in it.
struct PullClock {
  private static let block = TimeDelta.milliseconds(10)
  private static let window = 32
  /// Without a request for this time, playing was stopped.
  private static let pause = TimeDelta.milliseconds(300)

  /// How far each of the last calls came after its turn, if the first was at zero.
  private var offsets: [TimeDelta] = []
  private var count: Int64 = 0
  private var last: Timestamp?

  /// Records a request for a block.
  /// - Returns: its playing time, smoothed; at or before `now`.
  mutating func pull(at now: Timestamp) -> Timestamp {
    if let last, (now - last) > Self.pause || now < last { offsets.removeAll(keepingCapacity: true) }
    last = now
    let turn = Self.block * count
    count += 1
    offsets.append((now - .zero) - turn)
    if offsets.count > Self.window { offsets.removeFirst() }
    return Timestamp.zero + (offsets.min() ?? .zero) + turn
  }
}
