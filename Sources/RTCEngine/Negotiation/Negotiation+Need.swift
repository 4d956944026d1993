import RTCWire

extension Negotiation {
  /// True when a new exchange would change something ("check if negotiation is needed", W3C WebRTC §4.7.3). Means something
  /// only while nothing is pending.
  package var isNegotiationNeeded: Bool {
    guard case .stable(let agreement) = state else { return false }
    if needsDataChannelSection { return true }
    if let agreement, !agreement.session.media.isEmpty || agreement.session.dataChannels != nil,
      transport.credentials != agreement.session.transport.localCredentials
    {
      return true  // an ICE restart is waiting
    }
    return transceivers.indices.contains { needsNegotiation(TransceiverID(index: $0), agreement) }
  }

  private func needsNegotiation(_ id: TransceiverID, _ agreement: Agreement?) -> Bool {
    let transceiver = transceivers[id.index]
    let place = agreement?.lines.firstIndex { $0.transceiver == id }
    switch (transceiver.life, place) {
    case (.takenBack, _), (.stopped, nil): return false
    case (.stopped, _), (.running, nil): return true
    case (.running, let place?):
      return agreement.map { Self.differs(transceiver.media, $0, place) } ?? true
    }
  }

  /// True when the m-section says something else than we want.
  private static func differs(_ media: LocalTransceiver, _ agreement: Agreement, _ place: Int) -> Bool {
    let (local, remote) = (agreement.local.media[place], agreement.remote.media[place].direction.reversed)
    if local.direction.sends, media.direction.sends, let track = media.track,
      local.streamIdentifiers != [MediaStreamIdentifier(stream: track.streamID, track: track.trackID)]
    {
      return true
    }
    return switch agreement.offerer {
    case .us: local.direction != media.direction && remote != media.direction
    case .peer: local.direction != media.direction.intersection(remote)
    }
  }

  /// The tracks that the remote peer sends, or is about to send, by its latest description.
  package var remoteTracks: [RemoteTrackDescription] {
    switch state {
    case .haveRemoteOffer(let offer, _):
      offer.description.media.indices.compactMap { index in
        let section = offer.description.media[index]
        guard !section.isRejected, section.direction.sends, let id = offer.owners[index],
          transceivers[id.index].media.direction.receives
        else { return nil }
        return remoteTrack(id, section, mid: section.mid)
      }
    case .stable(let agreement?), .haveLocalOffer(_, let agreement?):
      agreement.session.media.compactMap { media in
        let section = agreement.remote.media[media.reference.index]
        return media.direction.receives ? remoteTrack(media.transceiver, section, mid: media.reference.mid) : nil
      }
    case .stable(nil), .haveLocalOffer(_, nil), .closed: []
    }
  }

  private func remoteTrack(_ id: TransceiverID, _ section: MediaDescription, mid: String?) -> RemoteTrackDescription? {
    let transceiver = transceivers[id.index]
    guard transceiver.life == .running else { return nil }
    var identifiers = section.streamIdentifiers
    // Older peers say it at their source.
    if identifiers.isEmpty, let only = section.sources.lazy.compactMap(\.streamIdentifier).first {
      identifiers = [only]
    }
    return RemoteTrackDescription(
      transceiver: id, kind: transceiver.media.kind, mid: mid,
      id: identifiers.lazy.compactMap(\.track).first ?? "track-\(mid ?? "\(id.index)")",
      streamIDs: identifiers.map(\.stream).filter { $0 != "-" })
  }
}

/// One track in the remote peer's description.
package struct RemoteTrackDescription: Hashable, Sendable {
  /// The transceiver that receives it.
  package var transceiver: TransceiverID
  /// Sound or video.
  package var kind: MediaKind
  /// The mid of its m-section; nil when the m-section has none.
  package var mid: String?
  /// The remote peer's identifier (RFC 8830), else one made from the mid.
  package var id: String
  /// The streams it is in: tracks of one stream are played in step.
  package var streamIDs: [String]
}
