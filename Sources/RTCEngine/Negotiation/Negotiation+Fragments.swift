package import RTCWire

/// What fragments (RFC 8840) say of a session, and change in it.
extension Negotiation {
  /// The m-section under which candidates of ours are trickled: that of the pending offer, else the agreed one.
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

  /// ICE restarts without descriptions: these credentials are agreed from now on, and later descriptions go on with them.
  /// - Parameter remote: nil while the remote peer's are not known yet.
  /// - Throws: when nothing is agreed yet, or an offer waits for its answer.
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
