package import RTCICE
public import RTCPrimitives
public import RTCWire

/// The state of ICE, for diagnosis.
package struct ICEReport: Sendable {
  /// The role: the controlling side nominates.
  package var role: ICERole
  /// How the agent stands.
  package var state: ICEState
  /// Ours.
  package var localCandidates: [ICECandidate]
  /// The remote peer's, as signaled.
  package var remoteCandidates: [ICECandidate]
  /// Candidates of the remote peer whose names have no address yet.
  package var unresolvedNames: Int
  /// Whether there is a path for media.
  package var hasRoute: Bool
  /// The pairs, the highest priority first.
  package var pairs: [CandidatePairReport]
  /// Counters since the peer was made.
  package var statistics: ICEStatistics
}

extension Peer {
  /// The state of ICE, for diagnosis.
  package var iceReport: ICEReport { transport.iceReport }

  /// The state of ICE before the connection is secured; nil after that.
  package var unsecuredICEReport: ICEReport? { transport.isSecured ? nil : transport.iceReport }
}

extension Transport {
  var iceReport: ICEReport {
    ICEReport(
      role: ice.role, state: ice.state, localCandidates: ice.localCandidates, remoteCandidates: ice.remoteCandidates,
      unresolvedNames: names.count, hasRoute: ice.selectedRoute != nil,
      pairs: ice.pairReports, statistics: ice.statistics)
  }

  /// Nil while no pair is nominated.
  var selectedPair: SelectedCandidatePair? {
    guard let pair = ice.selectedPair else { return nil }
    return SelectedCandidatePair(
      localKind: pair.local.kind, remoteKind: pair.remote.kind, localAddress: pair.local.address,
      remoteAddress: pair.remote.address, transportProtocol: pair.local.tcpType == nil ? .udp : .tcp)
  }
}

/// The two candidates that media goes between.
public struct SelectedCandidatePair: Hashable, Sendable {
  /// The transport protocol between the candidates.
  public enum TransportProtocol: String, Hashable, Sendable {
    case udp, tcp
  }

  /// The kind of the local candidate.
  public var localKind: ICECandidateKind
  /// The kind of the remote candidate.
  public var remoteKind: ICECandidateKind
  /// The address of the local candidate.
  public var localAddress: SocketAddress
  /// The address of the remote candidate.
  public var remoteAddress: SocketAddress
  /// Between the two; how we reach a relay of ours is another matter.
  public var transportProtocol: TransportProtocol
}
