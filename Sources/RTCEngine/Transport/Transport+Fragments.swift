package import RTCPrimitives
package import RTCWire

/// Trickle and restart by fragments (RFC 8840, RFC 9725 §4.3).
extension Transport {
  /// The effect of a fragment of the remote peer.
  package enum FragmentEffect: Hashable, Sendable {
    /// Its candidates are for the present session.
    case candidates
    /// It begins an ICE restart, or answers ours, with these credentials.
    case restart(ICECredentials)
  }

  /// Our credentials, including those of a pending restart.
  package var localCredentials: ICECredentials { ice.localCredentials }
  /// True between a `restart` and the remote peer's answer to it.
  package var isAwaitingRestart: Bool { ice.isAwaitingRestart }

  /// Reads a fragment.
  /// - Throws: when it cannot be read.
  package static func fragment(_ text: String) throws(NegotiationFailure) -> TrickleFragment {
    do throws(SDPError) {
      return try TrickleFragment(parsing: text)
    } catch {
      throw NegotiationFailure(kind: .malformed, sentence: "The candidates cannot be read: \(error).")
    }
  }

  /// - Throws: when its credentials cannot be used, or are those before a restart.
  package func effect(of fragment: TrickleFragment) throws(NegotiationFailure) -> FragmentEffect {
    guard let named = fragment.effectiveCredentials, named != ice.remoteCredentials else { return .candidates }
    if let former = ice.formerRemoteCredentials, former.usernameFragment == named.usernameFragment {
      throw NegotiationFailure(
        kind: .wrongState,
        sentence: isAwaitingRestart
          ? "The remote peer answered the ICE restart with the credentials it had before; the former session goes on."
          : "The candidates are for the session before the ICE restart.")
    }
    guard let known = ice.remoteCredentials ?? ice.formerRemoteCredentials else { return .candidates }
    guard named.isWellFormed, named.usernameFragment != known.usernameFragment else {
      throw NegotiationFailure(
        kind: .malformed,
        sentence: "The fragment's ice-ufrag and ice-pwd must both be new for an ICE restart, and long enough.")
    }
    return .restart(named)
  }

  /// Begins an ICE restart on our side. The path in use stays in use until there is another, and our role stays.
  package mutating func restart(_ credentials: ICECredentials, now: Timestamp) {
    ice.restart(localCredentials: credentials, now: now)
  }

  /// The remote peer's side of an ICE restart.
  package mutating func setRemote(_ credentials: ICECredentials, isLite: Bool, now: Timestamp) {
    ice.setRemote(credentials: credentials, isLite: isLite, now: now)
    names.forget(except: credentials.usernameFragment)
    addEarlyCandidates(now)
  }

  /// - Returns: names of candidates to resolve, each once.
  package mutating func takeNamesToResolve() -> [String] { names.takeUnasked() }

  /// Takes the candidates of a fragment, for the session it names.
  package mutating func addCandidates(of fragment: TrickleFragment, now: Timestamp) {
    let ufrag = fragment.effectiveCredentials?.usernameFragment
    for candidate in fragment.candidates {
      add(candidate, usernameFragment: candidate.usernameFragment ?? ufrag, now: now)
    }
    if fragment.isComplete { ice.endRemoteCandidates(now: now) }
  }
}
