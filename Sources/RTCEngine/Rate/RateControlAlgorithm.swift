/// How the bitrate of a connection follows the network.
public enum RateControlAlgorithm: String, Hashable, Sendable, CaseIterable {
  /// By delay and by loss, with probes (draft-ietf-rmcat-gcc).
  case gcc
  /// By loss alone, in steps: each second and every five (see `BitrateLimits`).
  case stepped

  package func makeEstimator(_ limits: BitrateLimits) -> any BandwidthEstimator {
    switch self {
    case .gcc: GoogleCongestionControl(limits: limits)
    case .stepped: SteppedBitrate(limits: limits)
    }
  }
}
