import RTCWire

/// Which of our candidates the remote peer was told of, in a description or one by one.
struct ToldCandidates {
  private var candidates: [CandidateDescription] = []
  private var isComplete = false

  /// A description or a fragment has left with all there are.
  mutating func describe(_ transport: LocalTransport) {
    candidates = transport.candidates
    isComplete = transport.endOfCandidates
  }

  /// - Returns: what is new since, and whether it is to be said that nothing more comes.
  mutating func update(_ transport: LocalTransport) -> (new: [CandidateDescription], isEnd: Bool) {
    let new = transport.candidates.filter { !candidates.contains($0) }
    let isEnd = transport.endOfCandidates && (!isComplete || !new.isEmpty)
    describe(transport)
    return (new, isEnd)
  }
}
