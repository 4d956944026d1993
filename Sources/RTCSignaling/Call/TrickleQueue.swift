package import RTCPrimitives

/// Candidates of ours that wait for the description they belong to: descriptions and candidates come from different
/// places, and a candidate that overtakes its description is lost with remote peers that keep none (RFC 8838 §9).
package struct TrickleQueue: Sendable {
  /// The user name fragments of sent descriptions.
  private var fragments: Set<String> = []
  private var waiting: [ICECandidateInit] = []
  /// Candidates sent since the last description; they are repeated together with it.
  package private(set) var followers: [ICECandidateInit] = []

  /// More than an agent gathers between two descriptions.
  static let mostWaiting = 256

  /// Makes an empty queue.
  package init() {}

  /// A description of ours has gone.
  /// - Returns: the candidates that may follow it, in order.
  package mutating func sent(_ sdp: String) -> [ICECandidateInit] {
    for line in sdp.split(whereSeparator: \.isNewline) where line.hasPrefix("a=ice-ufrag:") {
      fragments.insert(String(line.dropFirst(12)))
    }
    followers = []
    return release()
  }

  /// A candidate of ours was found; the empty one comes behind the last.
  /// - Returns: the candidates that may go now, in order.
  package mutating func found(_ candidate: ICECandidateInit) -> [ICECandidateInit] {
    if waiting.count < Self.mostWaiting { waiting.append(candidate) }
    return release()
  }

  private mutating func release() -> [ICECandidateInit] {
    let ready = waiting.prefix { candidate in
      candidate.usernameFragment.map { fragments.contains($0) } ?? !fragments.isEmpty
    }
    waiting.removeFirst(ready.count)
    followers = Array((followers + ready).suffix(Self.mostWaiting))
    return Array(ready)
  }
}
