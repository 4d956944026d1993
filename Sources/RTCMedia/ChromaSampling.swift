/// How finely colours are sampled.
public enum ChromaSampling: Hashable, Sendable, CaseIterable {
  /// One sample for four pixels (4:2:0).
  case quarter
  /// One for each pixel (4:4:4).
  case full

  /// `420` or `444`, as settings name it.
  public var name: String {
    switch self {
    case .quarter: "420"
    case .full: "444"
    }
  }
}
