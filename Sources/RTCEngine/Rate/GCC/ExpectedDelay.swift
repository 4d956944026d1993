import RTCPrimitives

/// How long packets would wait for one another on a line that is a little faster than the target rate, as a picture
/// leaves faster than that. With few pictures a second a large one makes a queue that is gone before the next comes; it
/// must not be taken for one that stands.
struct ExpectedDelay {
  /// Nanoseconds, for one packet.
  struct Delay {
    /// For those before it.
    var waiting: Int64 = 0
    /// For its own bits.
    var own: Int64 = 0
  }

  /// The maximum delay that a picture explains: more means that the sender exceeds its rate.
  private static let most = 0.08
  /// The line is so much faster than the target that it is idle between two pictures.
  private static let headroom = 1.6
  /// The largest target of the last one to two of these times counts, as packets left by it.
  private static let memory = TimeDelta.milliseconds(500)

  private var waiting = 0.0
  private var lastSent: Timestamp?
  private var (newer, older) = (0.0, 0.0)
  private var turned = Timestamp.zero

  /// Packets leave by this target from now on, bits per second.
  mutating func setTarget(_ rate: Double, _ now: Timestamp) {
    if now - turned > Self.memory {
      (older, newer, turned) = (newer, 0, now)
    }
    newer = max(newer, rate)
  }

  /// Takes a packet, in the order in which they left.
  mutating func add(size: Int, sent: Timestamp) -> Delay {
    let rate = max(newer, older, 1_000) * Self.headroom
    let elapsed = lastSent.map { max(0, (sent - $0).seconds) } ?? 0
    lastSent = sent
    waiting = max(0, min(waiting, Self.most) - elapsed)
    let expected = min(waiting, Self.most)
    let own = Double(size) * 8 / rate
    waiting += own
    return Delay(waiting: Int64(expected * 1e9), own: Int64(min(own, Self.most) * 1e9))
  }
}
