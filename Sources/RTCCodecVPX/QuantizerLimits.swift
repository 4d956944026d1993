import RTCMedia

/// Quantisers (0…63) between which frames are coded, by content hint.
struct QuantizerLimits {
  /// Visually lossless: about 44 dB of luma on text in VP8; in VP9, for what is off by more than 48 dB when fine.
  var finest: Int
  /// Visually lossless for most.
  var fine: Int
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

  /// Of VP8.
  init(_ settings: VideoEncoderSettings) {
    switch settings.contentHint {
    case .detail: self.init(8, moving: 24, readable: 30, legible: 42, coarsest: 48, first: 57)
    case .text: self.init(6, moving: 20, readable: 26, legible: 40, coarsest: 44, first: 55)
    case .motion: self.init(16, moving: 20, readable: 36, legible: 48, coarsest: 63, first: 63)
    }
    narrow(settings)
  }

  /// Of VP9. Pages of text, luma in dB by quantiser: 6: 50.7, 8: 48.8, 20: 42, 30: 37, 40: 31.5, 50: 26; red, green and
  /// blue in 4:4:4 are 5 dB less.
  init(vp9 settings: VideoEncoderSettings) {
    switch settings.contentHint {
    case .detail: self.init(3, moving: 20, readable: 30, legible: 39, coarsest: 50, first: 58)
    case .text: self.init(3, moving: 16, readable: 26, legible: 37, coarsest: 46, first: 56)
    case .motion: self.init(14, moving: 20, readable: 36, legible: 46, coarsest: 63, first: 63)
    }
    fine = max(finest, settings.contentHint == .text ? 5 : 6)
    coarsestBlurred = CodingLevel.coarsestSharp
    narrow(settings)
  }

  /// Keeps all within the quantisers that were asked for.
  private mutating func narrow(_ settings: VideoEncoderSettings) {
    guard let range = settings.quantizerRange else { return }
    let lower = min(63, max(0, range.lowerBound * 63 / 100))
    let upper = min(63, max(0, range.upperBound * 63 / 100))
    func limit(_ value: Int) -> Int { min(upper, max(lower, value)) }
    let fine = limit(fine)
    self = Self(
      lower, moving: limit(finestMoving), readable: limit(readable), legible: limit(legible), coarsest: upper,
      first: upper)
    self.fine = fine
    coarsestBlurred = upper
  }

  private init(_ finest: Int, moving: Int, readable: Int, legible: Int, coarsest: Int, first: Int) {
    self.finest = finest
    fine = finest
    finestMoving = moving
    self.readable = readable
    self.legible = legible
    self.coarsest = coarsest
    coarsestFirst = first
    coarsestBlurred = CodingLevel.coarsest
  }
}
