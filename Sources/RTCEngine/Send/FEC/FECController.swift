package import RTCPrimitives

/// Decides the amount of forward error correction for a video: by loss, by the round-trip time that a retransmission
/// takes, and by the number of packets of a frame.
///
/// Retransmission completes every frame in the end. Repair packets save most frames the round trip; their number leaves
/// few enough frames to retransmission. Large frames get at most two for five packets of media, small frames more, and
/// all frames up to one for each packet if the path has spare bandwidth.
package struct FECController {
  /// Protection begins at this loss, and ends below the other.
  package static let onsetLoss = 0.01
  package static let endLoss = 0.005
  /// Up to this round-trip time retransmission alone suffices. Protection begins above it and ends below
  /// `endRoundTrip`.
  package static let onsetRoundTrip = TimeDelta.milliseconds(25)
  package static let endRoundTrip = TimeDelta.milliseconds(20)
  /// The most repair packets for each packet of media, where video is short of rate …
  package static let maximumOverhead = 0.4
  /// … except that so many may protect a small frame: sparse codes over few packets are weak.
  package static let leastMaximum = 3
  /// Frames of so few packets are sent twice instead.
  package static let smallFrame = 3
  /// Loss that grows is followed within this time, loss that shrinks within the other: it comes and goes.
  private static let riseTime = TimeDelta.milliseconds(1_500)
  private static let fallTime = TimeDelta.seconds(5)
  /// At this round-trip time one frame in a hundred may need a retransmission; fewer at longer ones, more at shorter
  /// ones. A frame that waits for a retransmission delays the following frames.
  private static let referenceRoundTrip = TimeDelta.milliseconds(50)
  private static let referenceFailure = 0.01
  private static let failures = 0.005...0.04

  /// Packet loss, smoothed, 0…1.
  package private(set) var loss = 0.0
  private var roundTrip = TimeDelta.zero
  private var overhead = Self.maximumOverhead
  private var updated: Timestamp?
  /// Frames are protected.
  package private(set) var isOn = false

  package init() {}

  /// Updates the state of the path.
  /// - Parameters:
  ///   - loss: recent packet loss, 0…1.
  ///   - roundTrip: zero while it is unknown.
  ///   - overhead: the number of repair packets for each packet of media that the spare bandwidth allows.
  package mutating func update(loss measured: Double, roundTrip: TimeDelta, overhead: Double = 0, now: Timestamp) {
    self.overhead = min(1, max(Self.maximumOverhead, overhead))
    let elapsed = updated.map { now - $0 } ?? .zero
    updated = now
    let time = measured > loss ? Self.riseTime : Self.fallTime
    loss += (min(1, max(0, measured)) - loss) * min(1, Double(elapsed.nanoseconds) / Double(time.nanoseconds))
    self.roundTrip = roundTrip
    isOn =
      isOn
      ? loss >= Self.endLoss && roundTrip >= Self.endRoundTrip
      : loss >= Self.onsetLoss && roundTrip >= Self.onsetRoundTrip
  }

  /// Repair packets for a block of `packets` media packets.
  package func repairPackets(for packets: Int) -> Int {
    guard isOn, packets > Self.smallFrame else { return 0 }
    let most = min(
      RepairPattern.maximumRows, max(min(Self.leastMaximum, packets - 1), Int(Double(packets) * overhead)))
    for count in 0..<most where Self.failure(packets, count, loss) <= acceptedFailure { return count }
    return most
  }

  /// The share of frames that retransmission may be left with.
  private var acceptedFailure: Double {
    let share = Double(Self.referenceRoundTrip.nanoseconds) / Double(max(roundTrip, .milliseconds(1)).nanoseconds)
    return min(Self.failures.upperBound, max(Self.failures.lowerBound, Self.referenceFailure * share))
  }

  /// The chance that a block cannot be repaired, about: with `RepairPattern` each repair packet after the first makes up for
  /// 0.65 of a lost packet.
  static func failure(_ packets: Int, _ repair: Int, _ loss: Double) -> Double {
    guard repair > 1 else { return tail(packets + repair, beyond: repair, loss) }
    let limit = 1 + 0.65 * Double(repair - 1)
    let share = limit - limit.rounded(.down)
    let count = packets + repair
    return (1 - share) * tail(count, beyond: Int(limit), loss) + share * tail(count, beyond: Int(limit) + 1, loss)
  }

  /// The chance that more than `limit` of `count` packets are lost.
  private static func tail(_ count: Int, beyond limit: Int, _ loss: Double) -> Double {
    guard loss < 1 else { return 1 }
    var term = 1.0
    for _ in 0..<count { term *= 1 - loss }
    var sum = term
    for lost in 0..<limit {
      term *= Double(count - lost) / Double(lost + 1) * loss / (1 - loss)
      sum += term
    }
    return max(0, 1 - sum)
  }
}
