import RTCMedia

/// Quantisers (0…63) between which frames are coded, by content hint.
struct QuantizerLimits {
  /// Visually lossless: about 44 dB of luma on text.
  var finest: Int
  /// What plain grounds get whose colour is off: no error is left.
  var plain: Int { min(2, finest) }
  /// What a movement gets at best; more would be lost on the eye and cost time.
  var finestMoving: Int
  /// Where letters can be read without effort; large pictures are brought there before they become perfect.
  var readable: Int
  /// Where letters can be read (32 dB of luma on text); on slow links large pictures are brought there first.
  var legible: Int
  /// What a movement gets at worst; beyond it frames are left out (but for `motion`).
  var coarsest: Int
  /// What the first picture after a large change gets at worst while the rate allows; it is improved at once.
  var coarsestFirst: Int
  /// What it gets where the rate does not (a level of `CodingLevel`).
  var coarsestBlurred: Int

  /// Slow steps leave bits and time, and the eye time to read.
  func finestMoving(isSlow: Bool) -> Int { isSlow ? min(finestMoving, finest + 8) : finestMoving }

  init(_ settings: VideoEncoderSettings) {
    switch settings.contentHint {
    case .detail: self.init(8, moving: 24, readable: 30, legible: 42, coarsest: 48, first: 57)
    case .text: self.init(6, moving: 20, readable: 26, legible: 40, coarsest: 44, first: 55)
    case .motion: self.init(16, moving: 20, readable: 36, legible: 48, coarsest: 63, first: 63)
    }
    guard let range = settings.quantizerRange else { return }
    let lower = min(63, max(0, range.lowerBound * 63 / 100))
    let upper = min(63, max(0, range.upperBound * 63 / 100))
    func limit(_ value: Int) -> Int { min(upper, max(lower, value)) }
    self.init(
      lower, moving: limit(finestMoving), readable: limit(readable), legible: limit(legible), coarsest: upper,
      first: upper)
    coarsestBlurred = upper
  }

  private init(_ finest: Int, moving: Int, readable: Int, legible: Int, coarsest: Int, first: Int) {
    self.finest = finest
    finestMoving = moving
    self.readable = readable
    self.legible = legible
    self.coarsest = coarsest
    coarsestFirst = first
    coarsestBlurred = CodingLevel.coarsest
  }
}
