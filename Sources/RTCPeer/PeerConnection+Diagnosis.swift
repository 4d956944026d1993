package import RTCICE
import RTCEngine
import RTCPrimitives

extension PeerConnection {
  /// The most likely reason why there is no connection yet; nil if there is one, or nothing was negotiated. After
  /// the end, the reason why there had been none.
  /// - Parameter viewer: the checks that the remote side has counted; nil: it counts none.
  package func diagnosis(viewer: ConnectionDiagnosis.Checks? = nil) -> ConnectionDiagnosis? {
    guard let slot else { return lastDiagnosis }
    guard let report = slot.peer.unsecuredICEReport else { return nil }
    var evidence = ConnectionDiagnosis.Evidence()
    (evidence.local, evidence.remote) = (report.localCandidates, report.remoteCandidates)
    evidence.unresolvedNames = report.unresolvedNames
    evidence.requestsReceived = report.statistics.requestsReceived
    evidence.responsesReceived = report.statistics.responsesReceived
    evidence.hasPath = report.hasRoute
    evidence.viewerAddress = configuration.remoteAddress
    evidence.viewerChecks = viewer
    evidence.isRelayOnly = loop.options.iceTransportPolicy == .relay || configuration.iceTransportPolicy == .relay
    evidence.advertised = slot.sockets.advertised(beside: []).filter { $0.tcpType == nil }.map(\.address)
    evidence.serverFailures = slot.sockets.report.servers.compactMap { server in
      server.failure.map { "\(server.url): \($0.hasSuffix(".") ? String($0.dropLast()) : $0)" }
    }
    return ConnectionDiagnosis(evidence)
  }
}
