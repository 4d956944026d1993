import RTCEngine
import RTCMedia
package import RTCPrimitives

/// Chooses the codec of the main rung: the best one that most viewers decode and that this machine encodes in time.
/// Sans-IO; `now` comes with each call.
package struct CodecChooser: Sendable {
  /// A way to encode.
  package struct Candidate: Sendable {
    /// Whether chroma is sampled for each pixel (4:4:4).
    package var isFullChroma: Bool
    /// For each megapixel.
    package var cost: TimeDelta

    package init(isFullChroma: Bool, cost: TimeDelta) { (self.isFullChroma, self.cost) = (isFullChroma, cost) }
  }

  /// The content and the audience of the encoder.
  package struct Situation: Hashable, Sendable {
    /// The number of viewers whose codecs are known.
    package var viewers = 0
    /// For each candidate, the number of viewers that decode it.
    package var takers: [Int] = []
    /// The picture's, in millions.
    package var megapixels = 0.0
    /// Pictures a second, at most.
    package var frameRate = 5.0
    /// The pictures have colours of their own for each pixel, and it is words rather than films that are seen.
    package var wantsFullChroma = true
    /// The present bitrate of the main rung.
    package var rate = BitRate.megabitsPerSecond(6)
    /// The maximum bitrate of the main rung, used before the network is known.
    package var highestRate = BitRate.megabitsPerSecond(6)

    package init() {}
  }

  /// The best first.
  private var candidates: [Candidate]
  private let processors: Int
  /// The index of the candidate in use.
  package private(set) var current: Int
  private var situation = Situation()
  private var lastChange: Timestamp?
  /// The time since which another candidate has been better.
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

  /// Returns the index of the candidate to encode with.
  ///
  /// A change requires a key frame for every viewer, so it is immediate only while no viewer has a picture.
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

  /// Records the time for converting and encoding a picture. If it is longer than the measured cost, it replaces that
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

  /// The candidate in use may take a little more, so that two do not alternate.
  private func isInTime(_ index: Int) -> Bool {
    let slack = index == current ? 1.25 : 1
    let picture = candidates[index].cost.seconds * situation.megapixels
    return picture <= Limits.longestPicture * slack
      && picture * situation.frameRate <= Limits.processorShare * Double(processors) * slack
      && picture * situation.frameRate <= Limits.threadShare * slack
  }
}

private enum Limits {
  /// How long another candidate must have been better before a change.
  static let patience = TimeDelta.seconds(Int64(5))
  /// Between two changes.
  static let changeInterval = TimeDelta.seconds(Int64(30))
  /// Pictures whose mean counts.
  static let window = Int64(30)
  /// The maximum time, in seconds, to encode a picture that changed as a whole. A longer delay is noticeable.
  static let longestPicture = 0.09
  /// Bits per second for each megapixel. While 1080p scrolls within 1 Mbit/s, AV1 shows 42 dB of luma in 4:2:0 and 32 in
  /// 4:4:4; within 2.5 Mbit/s 48 and 44, and red, green and blue 27 and 39 dB.
  static let fullChromaRate = 0.9e6
  /// The maximum share of all processors.
  static let processorShare = 0.35
  /// The maximum share of one processor; the encoder's thread needs reserves for busier content.
  static let threadShare = 0.8
}
