package import RTCPrimitives

/// A signal between the media connections of a call's two sides.
package enum MediaSignal: Sendable, Hashable {
  /// `offer` or `answer`, and the SDP.
  case description(kind: String, sdp: String)
  /// The content of the remote peer's streams (`camera` or `screen`), by stream identifier. Sent before the description
  /// that it belongs to.
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

/// Signals that arrived before the call was accepted: callers of older protocols send their offer right after ringing.
struct HeldSignals: Sendable {
  /// The maximum number of signals, far above the need of an honest caller.
  static let mostSignals = 128
  static let mostBytes = 262_144

  private(set) var signals: [MediaSignal] = []
  private var bytes = 0

  /// Appends a signal; drops it if there are too many.
  mutating func append(_ signal: MediaSignal) {
    guard signals.count < Self.mostSignals, bytes + signal.bytes <= Self.mostBytes else { return }
    signals.append(signal)
    bytes += signal.bytes
  }
}
