package import RTCMedia
package import RTCPrimitives

/// Decides each second whether the rate suffices for the captured pictures, and which quality to reduce, by content
/// hint.
///
/// With `detail` and `text`, size and sharpness are kept: the encoder skips pictures and, if that is not enough, uses
/// its coarsest quantizer. The policy only tells it to. With `motion`, the frame rate is kept: the size is reduced in
/// steps. Sans-IO. Seconds with almost no change are ignored.
package struct DegradationPolicy: Sendable {
  /// The size of coded pictures, relative to the full size; each change requires a key frame.
  package enum Scale: Int, Comparable, Sendable {
    case half = 2
    case threeQuarters = 3
    case full = 4

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// Even, as chroma is halved.
    package func applied(to size: PixelSize) -> PixelSize {
      guard self != .full else { return size }
      return PixelSize(width: max(2, size.width * rawValue / 8 * 2), height: max(2, size.height * rawValue / 8 * 2))
    }
  }

  /// The present reduction of quality.
  package struct Decision: Hashable, Sendable {
    package var scale: Scale
    /// The remaining number of pictures a second; nil: all.
    package var frameRate: Double?
    /// Pictures are about as coarse as they may get.
    package var isCoarse: Bool

    package init(scale: Scale = .full, frameRate: Double? = nil, isCoarse: Bool = false) {
      self.scale = scale
      self.frameRate = frameRate
      self.isCoarse = isCoarse
    }

    package var isLimited: Bool { scale != .full || frameRate != nil || isCoarse }
  }

  /// Measurements of one second.
  private struct Tally {
    var captured = 0
    var coded = 0
    var coarse = 0
    var coarseness = 0.0

    /// Too little changed to judge by.
    var isRest: Bool { captured < 4 }
    var leavesOut: Bool { Double(coded) < 0.75 * Double(captured) }
    var isCoarse: Bool { coarse * 2 > coded }
    /// The next larger size, of about twice the pixels, would fit as well.
    var hasRoom: Bool { Double(coded) >= 0.9 * Double(captured) && coarseness < 0.45 * Double(coded) }
  }

  /// A size that sufficed no longer than this is tried again later each time.
  private static let trial = 10
  private static let longestPatience = 80

  package private(set) var decision = Decision()
  private var tally = Tally()
  private var tallyEnd: Timestamp?
  /// A captured change was not coded yet.
  private var isOutstanding = false
  /// Seconds in a row in which the rate did not suffice, or had room for more, or was enough.
  private var shortSeconds = 0
  private var roomySeconds = 0
  private var goodSeconds = 0
  /// Seconds of room before the size goes up.
  private var patience = Self.trial
  /// Seconds since the size went up.
  private var sinceRise = Int.max

  package init() {}

  /// The end of the present second, while quality is reduced; nil otherwise.
  package var deadline: Timestamp? { decision.isLimited ? tallyEnd : nil }

  /// A picture with changes was captured.
  package mutating func captured(_ hint: ContentHint, now: Timestamp) {
    advance(hint, now: now)
    tally.captured += 1
    isOutstanding = true
  }

  /// A frame was made.
  ///
  /// - Parameter coarseness: its quantiser relative to the coarsest of the codec, 0…1.
  package mutating func coded(coarseness: Double) {
    guard isOutstanding else { return }
    isOutstanding = false
    tally.coded += 1
    tally.coarseness += coarseness
    if coarseness >= 0.85 { tally.coarse += 1 }
  }

  /// Evaluates the present second when it is over.
  package mutating func advance(_ hint: ContentHint, now: Timestamp) {
    guard let end = tallyEnd else { return tallyEnd = now + .seconds(Int64(1)) }
    guard now >= end else { return }
    evaluate(tally, hint)
    // The first picture after a pause begins a new second.
    let rested = min(60, (now - end).nanoseconds / 1_000_000_000)
    for _ in 0..<rested { evaluate(Tally(), hint) }
    tally = Tally()
    tallyEnd = rested > 0 ? now + .seconds(Int64(1)) : end + .seconds(Int64(1))
  }

  private mutating func evaluate(_ second: Tally, _ hint: ContentHint) {
    if sinceRise < Int.max { sinceRise += 1 }
    let isShort = !second.isRest && (second.leavesOut || second.isCoarse)
    (shortSeconds, goodSeconds) = isShort ? (shortSeconds + 1, 0) : (0, goodSeconds + 1)
    if !second.isRest { roomySeconds = second.hasRoom ? roomySeconds + 1 : 0 }
    if shortSeconds >= 2 {
      let rate = second.leavesOut ? Double(max(1, second.coded)) : nil
      // Report only relevant differences.
      let isNews = (rate == nil) != (decision.frameRate == nil)
      let factor = (rate ?? 1) / (decision.frameRate ?? 1)
      if isNews || factor < 0.67 || factor > 1.5 { decision.frameRate = rate }
      decision.isCoarse = second.isCoarse
    } else if goodSeconds >= 3 {
      (decision.frameRate, decision.isCoarse) = (nil, false)
    }
    decision.scale = hint == .motion ? scale() : .full
  }

  private mutating func scale() -> Scale {
    if shortSeconds >= 3, let smaller = Scale(rawValue: decision.scale.rawValue - 1) {
      // A size that did not last is not tried again soon.
      patience = sinceRise < Self.trial ? min(Self.longestPatience, patience * 2) : Self.trial
      shortSeconds = 0
      return smaller
    }
    if roomySeconds >= patience, let larger = Scale(rawValue: decision.scale.rawValue + 1) {
      (roomySeconds, sinceRise) = (0, 0)
      return larger
    }
    return decision.scale
  }
}
