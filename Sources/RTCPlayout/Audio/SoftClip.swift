/// Keeps sound below full scale without hard clipping: quiet samples are unchanged, loud ones approach 1 and never
/// reach it.
enum SoftClip {
  /// Below this nothing changes: −2 dB.
  private static let knee: Float = 0.8

  /// Silence for NaN.
  static func bend(_ sample: Float) -> Float {
    let size = abs(sample)
    if size <= knee { return sample }
    guard size.isFinite else { return size.isNaN ? 0 : (sample < 0 ? -1 : 1) }
    let excess = (size - knee) / (1 - knee)
    // Continues with the slope of the linear part.
    let bent = knee + (1 - knee) * excess / (1 + excess)
    return sample < 0 ? -bent : bent
  }
}
