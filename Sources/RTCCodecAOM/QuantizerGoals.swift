import RTCMedia

/// Quantisers (1…63) between which frames are coded, by content hint and sampling.
struct QuantizerGoals {
  /// Visually lossless: about 49 dB of luma on text and, in 4:4:4, 44 dB of red, green and blue.
  var finest: Int
  /// What blocks get that are not visually lossless then.
  private(set) var perfect: Int
  /// What a movement gets at best; more would be lost on the eye and cost time.
  var finestMoving: Int
  /// Where letters can be read without effort (39 dB); large pictures are brought there before they become perfect.
  var readable: Int
  /// Where letters can be read (31 dB); on very slow links large pictures are brought there first.
  var legible: Int { max(finest, min(46, coarsest)) }
  /// What a movement gets at worst; beyond it frames are left out (but for `motion`).
  var coarsest: Int
  /// What the first picture after a large change gets at worst; it is improved at once.
  var coarsestFirst: Int

  init(_ settings: VideoEncoderSettings) {
    let isFull = settings.chroma == .full
    switch settings.contentHint {
    case .detail: self.init(isFull ? 4 : 6, moving: 20, readable: 30, coarsest: 56, first: 63)
    case .text: self.init(isFull ? 3 : 5, moving: 16, readable: 26, coarsest: 54, first: 63)
    case .motion:
      self.init(16, moving: 20, readable: 36, coarsest: 63, first: 63)
      perfect = finest
    }
    guard let range = settings.quantizerRange else { return }
    let lower = min(63, max(1, range.lowerBound * 63 / 100))
    let upper = min(63, max(1, range.upperBound * 63 / 100))
    func limit(_ value: Int) -> Int { min(upper, max(lower, value)) }
    self.init(
      lower, moving: limit(finestMoving), readable: limit(readable), coarsest: upper,
      first: upper)
    perfect = lower
  }

  private init(_ finest: Int, moving: Int, readable: Int, coarsest: Int, first: Int) {
    self.finest = finest
    perfect = max(1, finest - 3)
    finestMoving = moving
    self.readable = readable
    self.coarsest = coarsest
    coarsestFirst = first
  }
}
