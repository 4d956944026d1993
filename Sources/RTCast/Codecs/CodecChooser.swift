import RTCEngine
import RTCMedia
package import RTCPrimitives

/// Chooses what the main rung is encoded with: the best that most viewers decode and that this machine encodes in time.
/// Sans-IO; `now` comes with each call.
package struct CodecChooser: Sendable {
  /// A way to encode.
  package struct Candidate: Sendable {
    /// It samples the colours of each pixel.
    package var isFullChroma: Bool
    /// For each megapixel.
    package var cost: TimeDelta

    package init(isFullChroma: Bool, cost: TimeDelta) { (self.isFullChroma, self.cost) = (isFullChroma, cost) }
  }

  /// What is to be encoded, and for whom.
  package struct Situation: Hashable, Sendable {
    /// Those who are heard of.
    package var viewers = 0
    /// How many of them decode each candidate.
    package var takers: [Int] = []
    /// The picture's, in millions.
    package var megapixels = 0.0
    /// Pictures a second, at most.
    package var frameRate = 5.0
    /// The pictures have colours of their own for each pixel, and it is words rather than films that are seen.
    package var wantsFullChroma = true
    /// What the main rung may take now.
    package var rate = BitRate.megabitsPerSecond(6)
    /// What it may take at most, which counts before the network is known.
    package var highestRate = BitRate.megabitsPerSecond(6)

    package init() {}
  }

  /// The best first.
  private var candidates: [Candidate]
  private let processors: Int
  /// What is encoded with.
  package private(set) var current: Int
  private var situation = Situation()
  private var lastChange: Timestamp?
  /// Another has been better since then.
  private var betterSince: Timestamp?
  /// How long pictures took with `current`, in the window at hand.
  private var work = (time: TimeDelta.zero, count: Int64(0))

  /// - Parameters:
  ///   - candidates: the best first; not empty.
  ///   - processors: how many there are.
  package init(_ candidates: [Candidate], processors: Int, situation: Situation) {
    self.candidates = candidates
    self.processors = processors
    current = 0
    self.situation = situation
    current = best(within: situation.highestRate)
  }

  /// What to encode with from now on.
  ///
  /// A change costs everybody a key frame, so it comes at once only where nobody has a picture yet.
  package mutating func choose(_ new: Situation, now: Timestamp) -> Int {
    let isFirst = situation.viewers == 0
    situation = new
    let wanted = best(within: isFirst ? new.highestRate : new.rate)
    guard wanted != current, situation.viewers > 0 else {
      betterSince = nil
      return current
    }
    let since = betterSince ?? now
    betterSince = since
    guard isFirst || now >= changeTime(since) else { return current }
    (current, lastChange, betterSince, work) = (wanted, now, nil, (.zero, 0))
    return current
  }

  /// When another may be chosen though nothing else happens; nil: none is better.
  package var deadline: Timestamp? { betterSince.map { changeTime($0) } }

  private func changeTime(_ since: Timestamp) -> Timestamp {
    max(since + Limits.patience, lastChange.map { $0 + Limits.changeInterval } ?? .zero)
  }

  /// Takes in how long converting and encoding a picture took. Where that is longer than was measured of the page, it counts
  /// from now on.
  package mutating func note(_ time: TimeDelta) {
    work = (work.time + time, work.count + 1)
    guard work.count >= Limits.window, situation.megapixels > 0 else { return }
    let cost = TimeDelta.seconds((work.time / work.count).seconds / situation.megapixels)
    candidates[current].cost = max(candidates[current].cost, cost)
    work = (.zero, 0)
  }

  private func best(within rate: BitRate) -> Int {
    let isSharp = situation.wantsFullChroma && isAmple(rate)
    let able = candidates.indices.filter { isDecoded($0) && (isSharp || !candidates[$0].isFullChroma) }
    if let best = able.first(where: isInTime) { return best }
    return able.min { candidates[$0].cost < candidates[$1].cost } ?? current
  }

  /// Whether full chroma takes nothing from the letters themselves.
  private func isAmple(_ rate: BitRate) -> Bool {
    let slack = candidates[current].isFullChroma ? 0.7 : 1
    return Double(rate.bitsPerSecond) >= Limits.fullChromaRate * situation.megapixels * slack
  }

  /// By most. Before anybody has come, by all.
  private func isDecoded(_ index: Int) -> Bool {
    guard situation.viewers > 0 else { return true }
    return situation.takers.indices.contains(index) && situation.takers[index] * 2 > situation.viewers
  }

  /// What is chosen already may take a little more, so that two do not take turns.
  private func isInTime(_ index: Int) -> Bool {
    let slack = index == current ? 1.25 : 1
    let picture = candidates[index].cost.seconds * situation.megapixels
    return picture <= Limits.longestPicture * slack
      && picture * situation.frameRate <= Limits.processorShare * Double(processors) * slack
      && picture * situation.frameRate <= Limits.threadShare * slack
  }
}

private enum Limits {
  /// So long another must have been better.
  static let patience = TimeDelta.seconds(Int64(5))
  /// Between two changes.
  static let changeInterval = TimeDelta.seconds(Int64(30))
  /// Pictures whose mean counts.
  static let window = Int64(30)
  /// Seconds for a picture that changed as a whole: what is later is felt.
  static let longestPicture = 0.09
  /// Bits per second for each megapixel. While 1080p scrolls within 1 Mbit/s, AV1 shows 42 dB of luma in 4:2:0 and 32 in
  /// 4:4:4; within 2.5 Mbit/s 48 and 44, and red, green and blue 27 and 39 dB.
  static let fullChromaRate = 0.9e6
  /// Of all processors.
  static let processorShare = 0.35
  /// Of one: the encoder's thread is to be idle for when more is to be done.
  static let threadShare = 0.8
}
