/// Quantisers between which frames are coded, in the codec's own scale.
package struct QuantizerGoals {
  /// Visually lossless: about 49 dB of luma on text and, in 4:4:4, 44 dB of red, green and blue.
  package private(set) var finest: Int
  /// What blocks get that are not visually lossless then.
  package private(set) var perfect: Int
  /// What a movement gets at best; more would be lost on the eye and cost time.
  package private(set) var finestMoving: Int
  /// Where letters can be read without effort (39 dB); large pictures are brought there before they become perfect.
  package private(set) var readable: Int
  /// Where letters can be read (31 dB); on very slow links large pictures are brought there first.
  package private(set) var legible: Int
  /// What a movement gets at worst; beyond it frames are left out (but for `motion`).
  package private(set) var coarsest: Int
  /// What the first picture after a large change gets at worst; it is improved at once.
  package private(set) var coarsestFirst: Int

  /// What a codec and a content hint ask for; `perfect` nil: nothing is made finer than `finest`.
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

  /// The same within a range in percent of a scale, whose ends the finest and the coarsest become.
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
