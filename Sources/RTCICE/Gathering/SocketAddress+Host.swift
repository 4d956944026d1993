import RTCPrimitives

extension SocketAddress {
  /// One host may have it: no port 0, nothing unspecified, no multicast, no broadcast.
  var isOfOneHost: Bool {
    switch CandidatePolicy.refusal(of: self, isLearned: true) {
    case .impossible, .multicast: false
    case .disguised, .cloudService, .servicePort, nil: true
    }
  }
}
