/// Quantisers between which frames are coded, in the codec's own scale.
package struct QuantizerGoals {
  /// The quantiser at which a picture is visually lossless: about 49 dB of luma on text and, in 4:4:4, 44 dB of red,
  /// green and blue.
  package private(set) var finest: Int
  /// The quantiser of blocks that are not visually lossless at `finest`.
  package private(set) var perfect: Int
  /// The finest quantiser of a movement; a finer one would be lost on the eye and cost time.
  package private(set) var finestMoving: Int
  /// The quantiser at which letters can be read without effort (39 dB); large pictures are brought to it before they
  /// become perfect.
  package private(set) var readable: Int
  /// The quantiser at which letters can be read (31 dB); on very slow links large pictures are brought to it first.
  package private(set) var legible: Int
  /// The coarsest quantiser of a movement; where it does not suffice, frames are left out (but for `motion`).
  package private(set) var coarsest: Int
  /// The coarsest quantiser of the first picture after a large change; the picture is improved at once.
  package private(set) var coarsestFirst: Int

  /// The finest quantiser of a movement. Slow steps may be finer, within `step` quantisers of a picture at rest: they
  /// leave bits and time, and leave the viewer time to read.
  package func finestMoving(isSlow: Bool, by step: Int) -> Int {
    isSlow ? min(finestMoving, finest + step) : finestMoving
  }

  /// Creates the goals of a codec for a content hint. If `perfect` is nil, nothing is made finer than `finest`.
  package init(
    _ finest: Int, perfect: Int?, moving: Int, readable: Int, legible: Int, coarsest: Int, first: Int
  ) {
    self.finest = finest
    self.perfect = perfect ?? finest
    finestMoving = moving
    self.readable = readable
    self.legible = max(finest, min(legible, coarsest))
    self.coarsest = coarsest
    coarsestFirst = first
  }

  /// These goals within a range in percent of `scale`: the ends of the range become the finest and the coarsest
  /// quantiser.
  package func limited(to range: ClosedRange<Int>?, of scale: ClosedRange<Int>) -> QuantizerGoals {
    guard let range else { return self }
    func quantizer(_ percent: Int) -> Int {
      min(scale.upperBound, max(scale.lowerBound, percent * scale.upperBound / 100))
    }
    let (lower, upper) = (quantizer(range.lowerBound), quantizer(range.upperBound))
    func limit(_ value: Int) -> Int { min(upper, max(lower, value)) }
    return QuantizerGoals(
      lower, perfect: nil, moving: limit(finestMoving), readable: limit(readable), legible: limit(legible),
      coarsest: upper, first: upper)
  }
}
