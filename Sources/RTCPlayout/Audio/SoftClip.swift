/// Keeps sound below full scale without the crack of cutting it off: what is quiet stays as it is, what is loud comes ever
/// closer to 1 and never reaches it.
enum SoftClip {
  /// Below this nothing changes: −2 dB.
  private static let knee: Float = 0.8

  /// Silence for what is no number.
  static func bend(_ sample: Float) -> Float {
    let size = abs(sample)
    if size <= knee { return sample }
    guard size.isFinite else { return size.isNaN ? 0 : (sample < 0 ? -1 : 1) }
    let excess = (size - knee) / (1 - knee)
    // Goes on with the slope of the straight part.
    let bent = knee + (1 - knee) * excess / (1 + excess)
    return sample < 0 ? -bent : bent
  }
}
