import RTCPrimitives

/// When blocks of 10 ms are heard, from when they are asked for. A sound server asks for several at once and then for none
/// for a while; what counts is the moment at which the last of them is asked for, since no later packet can be in it.
struct PullClock {
  private static let block = TimeDelta.milliseconds(10)
  private static let window = 32
  /// Nobody asked for so long: playing was stopped.
  private static let pause = TimeDelta.milliseconds(300)

  /// How far each of the last calls came after its turn, if the first was at zero.
  private var offsets: [TimeDelta] = []
  private var count: Int64 = 0
  private var last: Timestamp?

  /// Notes that a block is asked for.
  /// - Returns: when it is heard, as steadily as can be told; at or before `now`.
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
