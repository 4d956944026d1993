package import RTCPrimitives

/// The state of a pair of candidates, for diagnosis.
package struct CandidatePairReport: Hashable, Sendable {
  /// Ours.
  package var local: ICECandidate
  /// The remote peer's.
  package var remote: ICECandidate
  /// The state of its check.
  package var state: CandidatePairState
  /// Media goes this way.
  package var isSelected: Bool
  /// RFC 8445 §6.1.2.3.
  package var priority: UInt64
  /// The round-trip time of the latest answered check without retransmission; nil before it.
  package var roundTripTime: TimeDelta?
  /// Checks sent, repetitions included, consent checks not.
  package var requestsSent: Int
  /// Success responses to them.
  package var responsesReceived: Int
}

extension ICEAgent {
  /// The pairs of this session, the highest priority first.
  package var pairReports: [CandidatePairReport] {
    session.checklist.pairs.map { pair in
      CandidatePairReport(
        local: pair.local, remote: pair.remote, state: pair.state, isSelected: pair.id == session.selectedPair,
        priority: pair.priority, roundTripTime: pair.roundTripTime, requestsSent: pair.requestsSent,
        responsesReceived: pair.responsesReceived)
    }
  }
}
