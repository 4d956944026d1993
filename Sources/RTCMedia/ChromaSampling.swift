/// How finely colours are sampled.
public enum ChromaSampling: Hashable, Sendable {
  /// One sample for four pixels (4:2:0).
  case quarter
  /// One for each pixel (4:4:4).
  case full
}
