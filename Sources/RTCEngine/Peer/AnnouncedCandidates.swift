import RTCWire

/// The local candidates that the remote peer has received, in a description or one by one.
struct AnnouncedCandidates {
  private var candidates: [CandidateDescription] = []
  private var isComplete = false

  /// A description or a fragment has left with all there are.
  mutating func describe(_ transport: LocalTransport) {
    candidates = transport.candidates
    isComplete = transport.endOfCandidates
  }

  /// - Returns: the new candidates, and whether the end of candidates is to be signaled.
  mutating func update(_ transport: LocalTransport) -> (new: [CandidateDescription], isEnd: Bool) {
    let new = transport.candidates.filter { !candidates.contains($0) }
    let isEnd = transport.endOfCandidates && (!isComplete || !new.isEmpty)
    describe(transport)
    return (new, isEnd)
  }
}
