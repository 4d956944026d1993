package import RTCWire

/// Fragments (RFC 8840): reading them from a session, and applying them to it.
extension Negotiation {
  /// The m-section under which our candidates are trickled: that of the pending offer, else the negotiated one.
  package var candidateSection: MediaReference? {
    if case .haveLocalOffer(let offer, _) = state,
      let index = offer.lines.firstIndex(where: { $0.use != .rejected })
    {
      return MediaReference(index: index, mid: offer.lines[index].mid)
    }
    return session?.transport.tag
  }

  /// The credentials of ours that belong to our latest description.
  package var describedCredentials: ICECredentials? {
    if case .haveLocalOffer(let offer, _) = state { offer.credentials } else { session?.transport.localCredentials }
  }

  /// All candidates of ours so far, for the session that was described last; nil before the first description.
  package var localFragment: TrickleFragment? {
    guard let section = candidateSection, let description = localDescription else { return nil }
    var fragment = TrickleFragment()
    fragment.credentials = describedCredentials
    fragment.iceOptions = ["trickle"]
    fragment.bundle = description.bundles.first ?? []
    fragment.sections = [
      TrickleFragment.Section(
        kind: description.media[section.index].kind, mid: section.mid, candidates: transport.candidates,
        endOfCandidates: transport.endOfCandidates)
    ]
    return fragment
  }

  /// Restarts ICE without descriptions: these credentials are in force from now on, and later descriptions contain
  /// them.
  /// - Parameter remote: nil while the remote peer's credentials are unknown.
  /// - Throws: before the first agreement, or while an offer is pending.
  package mutating func restart(local: ICECredentials, remote: ICECredentials?) throws(NegotiationFailure) {
    guard case .stable(var agreement?) = state else {
      throw NegotiationFailure(
        kind: .wrongState,
        sentence: "ICE can be restarted by a fragment only when a session is agreed and no offer waits for its answer.")
    }
    agreement.session.transport.localCredentials = local
    for index in agreement.local.media.indices where agreement.local.media[index].transport.credentials != nil {
      agreement.local.media[index].transport.credentials = local
    }
    if let remote {
      agreement.session.transport.remoteCredentials = remote
      agreement.session.transport.remoteCandidates = []
      agreement.session.transport.remoteEndOfCandidates = false
    }
    transport.credentials = local
    state = .stable(agreement)
  }
}
