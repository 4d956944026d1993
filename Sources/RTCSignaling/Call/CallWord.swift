package import RTCPrimitives

/// What the media connections of a call's two sides tell each other.
package enum CallWord: Sendable, Hashable {
  /// `offer` or `answer`, and the SDP.
  case description(kind: String, sdp: String)
  /// What the remote peer's streams show, by their identifiers: `camera` or `screen`. Comes before the description it
  /// belongs to.
  case streams([String: String])
  /// Nil after the last.
  case candidate(ICECandidateInit?)

  var bytes: Int {
    switch self {
    case .description(_, let sdp): sdp.utf8.count
    case .streams(let streams): streams.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    case .candidate(let candidate): candidate?.candidate.utf8.count ?? 0
    }
  }
}

/// What came before the call was taken: callers of older protocols send their offer right behind the ring.
struct HeldWords: Sendable {
  /// What a patient and honest caller stays far below.
  static let mostWords = 128
  static let mostBytes = 262_144

  private(set) var words: [CallWord] = []
  private var bytes = 0

  /// Drops what is too much.
  mutating func append(_ word: CallWord) {
    guard words.count < Self.mostWords, bytes + word.bytes <= Self.mostBytes else { return }
    words.append(word)
    bytes += word.bytes
  }
}
