import RTCPrimitives

/// The rate at which the packets of one picture may leave: as fast as the packets of earlier pictures were seen to arrive
/// without waiting for one another.
///
/// The target says how much a sender may send in the mean, and may be far below what the path carries: the user's limit,
/// or a screen that needs no more. A picture of a screen is many times as large as the mean, and pacing it by the target
/// delays it. So packets that left close together are compared with their arrival. If they arrived as fast as they left,
/// the next ones may leave faster. If they arrived more slowly, that is the path's rate. Nothing here changes the target.
struct BurstRate {
  /// Packets that left within this time of the one before are one train: the pacer sends in groups of 2 ms.
  private static let longestGap = TimeDelta.milliseconds(5)
  private static let atOnce = TimeDelta.milliseconds(1)
  /// A train of less says nothing: a path may hold back and deliver together as many.
  private static let (leastPackets, leastTime) = (8, TimeDelta.milliseconds(3))
  /// The pacer's groups have no more bytes, or none than leave within `longestGap` at the pacing rate.
  private static let leastGroup = 3_600
  /// A longer one is evaluated in parts.
  private static let mostPackets = 64
  /// Later than the first packet by more than this, and by more than this share of the train: the packets waited for one
  /// another.
  private static let (waiting, waitingShare) = (TimeDelta.milliseconds(2), 0.15)
  /// The share of a train whose loss is a sign of a full queue.
  private static let overflow = 0.125
  /// The next train may be so much faster than a proved one.
  private static let growth = 1.5
  /// The share of a full path's rate at which packets leave.
  private static let belowFull = 0.9
  /// How long a path that was full, or lost packets of a train, is not tried again.
  private static let patience = TimeDelta.seconds(20)
  /// The proof is forgotten when no train confirms it for so long.
  private static let memory = TimeDelta.seconds(30)
  /// The largest multiple of the target, and the largest rate in bits per second: above it, sending takes no time.
  private static let (mostOfTarget, most) = (16.0, 60e6)
  /// A picture of this length may be on its way before feedback on its first packets.
  private static let windowTime = TimeDelta.milliseconds(50)
  private static let longestWindow = 256_000

  /// Packets that left one after another. Those that left at once begin it: they wait for one another on any path, so the
  /// last of them is what later packets are compared with.
  private struct Train {
    let firstSent: Timestamp
    /// When the last of those left that left at once, and its time under way.
    var (headSent, headTransit): (Timestamp, TimeDelta?)
    /// Packets and bytes after those.
    var (packets, bytes) = (0, 0)
    var (lastSent, lastTransit): (Timestamp, TimeDelta)
    /// The newest packets that left at once.
    var (groupSent, groupBytes): (Timestamp, Int)
    var losses = 0

    init(sent: Timestamp, transit: TimeDelta?) {
      (firstSent, headSent, lastSent) = (sent, sent, sent)
      (headTransit, lastTransit) = (transit, transit ?? .zero)
      (groupSent, groupBytes) = (sent, 0)
      if transit == nil { losses = 1 }
    }

    mutating func add(size: Int, sent: Timestamp, transit: TimeDelta?) {
      lastSent = max(lastSent, sent)
      if transit == nil { losses += 1 }
      if sent - firstSent < BurstRate.atOnce {
        headSent = lastSent
        headTransit = transit ?? headTransit
      } else {
        packets += 1
        bytes += size
        headTransit = headTransit ?? transit
        if sent - groupSent >= BurstRate.atOnce { (groupSent, groupBytes) = (sent, 0) }
        groupBytes += size
      }
      lastTransit = transit ?? lastTransit
    }
  }

  private var train: Train?
  /// Bits per second at which a train arrived as it left.
  private var proved: Double?
  private var confirmed = Timestamp.zero
  /// Bits per second that fill the path, and until when.
  private var full: (rate: Double, until: Timestamp)?

  /// Takes feedback on one packet, in the order in which they left.
  /// - Parameter pacing: bits per second at which packets leave now.
  mutating func add(_ result: PacketResult, pacing: Double, _ now: Timestamp) {
    guard !result.wasReportedLost else { return }
    let sent = result.packet.sendTime
    if let train, sent - train.lastSent > Self.longestGap || train.packets >= Self.mostPackets {
      evaluate(train, pacing: pacing, now)
      self.train = nil
    }
    let transit = result.arrival.map { $0 - (sent - Timestamp.zero) }
    guard train != nil else {
      train = Train(sent: sent, transit: transit)
      return
    }
    train?.add(size: result.packet.size, sent: sent, transit: transit)
    // Not paced: these wait for one another on any path, and begin another train.
    if let train, train.groupBytes > max(Self.leastGroup, Int(pacing * Self.longestGap.seconds / 8)) {
      self.train = Train(sent: train.groupSent, transit: transit)
    }
  }

  /// Nothing more was sent after the packets seen so far.
  mutating func endTrain(pacing: Double, _ now: Timestamp) {
    if let train { evaluate(train, pacing: pacing, now) }
    train = nil
  }

  private mutating func evaluate(_ train: Train, pacing: Double, _ now: Timestamp) {
    let span = train.lastSent - train.headSent
    guard train.packets >= Self.leastPackets, span >= Self.leastTime, let head = train.headTransit else { return }
    let rate = min(pacing, Double(train.bytes) * 8 / span.seconds)
    // A full queue loses packets in a row; a few may be the path's own loss.
    if Double(train.losses) > Self.overflow * Double(train.packets) { return fill(rate / 2, now) }
    let waited = train.lastTransit - head
    if waited > Self.waiting, waited.seconds > Self.waitingShare * span.seconds {
      fill(Double(train.bytes) * 8 / (span + waited).seconds, now)
    } else {
      prove(rate, now)
    }
  }

  /// A probe arrived at `rate`, bits per second.
  mutating func take(probed rate: Double, isSaturated: Bool, _ now: Timestamp) {
    if isSaturated { fill(rate, now) } else { prove(rate, now) }
  }

  private mutating func prove(_ rate: Double, _ now: Timestamp) {
    if now - confirmed > Self.memory { proved = nil }
    if rate >= 0.5 * (proved ?? 0) { confirmed = now }
    proved = max(rate, proved ?? 0)
  }

  private mutating func fill(_ rate: Double, _ now: Timestamp) {
    full = (rate * Self.belowFull, now + Self.patience)
    if let proved, proved > rate { self.proved = rate * Self.belowFull }
  }

  /// Bits per second at which packets may leave; nil where nothing speaks for more than the target does.
  /// - Parameter isFirst: nothing was sent for a while, and the path may have become slower.
  func rate(target: Double, isFirst: Bool, _ now: Timestamp) -> Double? {
    guard let proved, now - confirmed <= Self.memory else { return nil }
    var rate = isFirst ? proved : proved * Self.growth
    if let full, full.until > now { rate = min(rate, full.rate) }
    return min(rate, Self.mostOfTarget * target, Self.most)
  }

  /// Bytes that may be on their way in addition while packets leave at `rate`.
  static func window(_ rate: Double) -> Int { min(longestWindow, BitRate(rate).bytes(in: windowTime)) }

  /// The path has become full: what it carried before proves nothing.
  mutating func forget() { proved = nil }

  mutating func reset() { self = BurstRate() }
}
