import RTCMedia

/// Quantisers (0…63) between which frames are coded, by content hint.
struct QuantizerLimits {
  /// The quantiser that is visually lossless: about 44 dB of luma on text in VP8. In VP9 it is for macroblocks that are
  /// not within 48 dB at `fine`.
  var finest: Int
  /// The quantiser that is visually lossless for most macroblocks.
  var fine: Int
  /// The quantiser of plain macroblocks with a wrong colour: no error is left.
  var plain: Int { min(2, finest) }
  /// The finest quantiser of a movement; a finer one would be lost on the eye and cost time.
  var finestMoving: Int
  /// The quantiser at which letters can be read without effort; large pictures are brought to it before they become
  /// perfect.
  var readable: Int
  /// The quantiser at which letters can be read (32 dB of luma on text); on slow links large pictures are brought to it
  /// first.
  var legible: Int
  /// The coarsest quantiser of a movement; where it does not suffice, frames are left out (but for `motion`).
  var coarsest: Int
  /// The coarsest quantiser of the first picture after a large change while the rate allows; the picture is improved at
  /// once.
  var coarsestFirst: Int
  /// The coarsest level (of `CodingLevel`) of that first picture where the rate does not allow `coarsestFirst`.
  var coarsestBlurred: Int

  /// The finest quantiser of a movement. Slow steps may be finer: they leave bits and time, and leave the viewer time
  /// to read.
  func finestMoving(isSlow: Bool) -> Int { isSlow ? min(finestMoving, finest + 8) : finestMoving }

  /// The limits for VP8.
  init(_ settings: VideoEncoderSettings) {
    switch settings.contentHint {
    case .detail: self.init(8, moving: 24, readable: 30, legible: 42, coarsest: 48, first: 57)
    case .text: self.init(6, moving: 20, readable: 26, legible: 40, coarsest: 44, first: 55)
    case .motion: self.init(16, moving: 20, readable: 36, legible: 48, coarsest: 63, first: 63)
    }
    narrow(settings)
  }

  /// The limits for VP9. Pages of text have these dB of luma, by quantiser: 6: 50.7, 8: 48.8, 20: 42, 30: 37, 40: 31.5,
  /// 50: 26. Red, green and blue in 4:4:4 are 5 dB less.
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
