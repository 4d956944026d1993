/// How coarsely a picture is coded, on one scale: libvpx's quantiser (0 finest … 63), and above it the coarsest
/// quantiser for a picture that lost detail before (64: half the resolution … 67: a sixteenth).
///
/// At the coarsest quantiser a 1080p page of text still takes 50–110 kB in VP8, 0.7–1.5 s of a link of 600 kbit/s.
/// Without its detail it takes 6–45 kB, and spares nothing of what the sharp picture takes later, but costs it nothing
/// either: blurred by 8 and then at quantiser 50 it takes the same in all as at quantiser 50 at once (measured, four
/// pages).
enum CodingLevel {
  /// The coarsest level of a picture with all its detail.
  static let coarsestSharp = 63
  /// The coarsest level: a sixteenth of the resolution.
  static let coarsest = 67

  /// The quantiser that libvpx gets.
  static func quantizer(_ level: Int) -> Int { min(level, coarsestSharp) }

  /// The factor by which the picture is scaled down and up again before coding; 1 means not at all.
  static func reduction(_ level: Int) -> Int { 1 << max(0, level - coarsestSharp) }
}
