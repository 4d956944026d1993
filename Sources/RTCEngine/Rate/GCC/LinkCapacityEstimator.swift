/// Remembers at which rates the path was full, so that the rate comes near them with care
/// (draft-ietf-rmcat-gcc-02 §5.5).
struct LinkCapacityEstimator {
  private static let smoothing = 0.05
  /// Bounds of the variance, over the mean.
  private static let variances = 0.4...2.5

  /// Bits per second; nil while nothing is known.
  private(set) var mean: Double?
  /// The variance of the samples, divided by the mean, in kbit/s.
  private var variance = 0.4

  /// The path was full at this rate.
  mutating func add(_ rate: Double) {
    guard let old = mean else {
      mean = rate
      return
    }
    let new = (1 - Self.smoothing) * old + Self.smoothing * rate
    let error = (new - rate) / 1_000
    variance = (1 - Self.smoothing) * variance + Self.smoothing * error * error / max(new / 1_000, 1)
    variance = max(Self.variances.lowerBound, min(Self.variances.upperBound, variance))
    mean = new
  }

  /// Sets the capacity exactly.
  mutating func set(_ rate: Double) { mean = rate }

  /// Three standard deviations, bits per second.
  private var margin: Double { 3 * (variance * (mean ?? 0) / 1_000).squareRoot() * 1_000 }

  func isAbove(_ rate: Double) -> Bool { mean.map { rate > $0 + margin } ?? false }
  func isBelow(_ rate: Double) -> Bool { mean.map { rate < $0 - margin } ?? false }

  mutating func reset() { self = LinkCapacityEstimator() }
}
