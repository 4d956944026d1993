import RTCPrimitives
package import RTCWire

extension Negotiation {
  /// Takes the peer's offer. Known m-sections must keep their position, kind and mid. `createAnswer` decides whether
  /// there are common codecs, so that transceivers can still be added before.
  ///
  /// The first m-section of a bundle has the transport of all (RFC 8843 §7.2). With the bundle policy `max-bundle`,
  /// Chromium has no transport if the answer rejects it, although RFC 8843 §7.3.3 allows that. If no transceiver waits
  /// for an m-section at that position, it is therefore accepted as inactive.
  /// - Parameter templates: the templates for new transceivers, at most one of each kind.
  package mutating func setRemoteOffer(
    _ offer: SessionDescription, keepingTransportBy templates: [LocalTransceiver] = []
  ) throws(NegotiationError) {
    let before = try check(offer)
    var taken = RemoteOffer(description: offer, matching: .whateverFits)
    if before == nil, let index = unclaimedTransportSection(of: offer), canAdd {
      let section = offer.media[index]
      let template = templates.first { $0.kind == MediaKind(section.kind) && !AnswerPlan.bind($0, section).isEmpty }
      if var media = template {
        media.direction = .inactive
        let id = add(media, for: .remoteSection)
        taken.owners[index] = id
        taken.made.append(id)
      }
    }
    state = .haveRemoteOffer(taken, before: before)
  }

  /// The place of the m-section that carries the bundle's transport, if there are others in the bundle and no transceiver
  /// of ours has its kind.
  private func unclaimedTransportSection(of offer: SessionDescription) -> Int? {
    let bundle = AnswerPlan.chooseBundle(offer, [], takesDataChannels: dataChannels != nil)
    guard bundle.count > 1, let index = bundle.first.flatMap(offer.index(mid:)) else { return nil }
    let section = offer.media[index]
    guard let kind = MediaKind(section.kind), AnswerPlan.obstacle(section, bundle, isFirst: true) == nil,
      !transceivers.contains(where: { $0.life == .running && $0.media.kind == kind })
    else { return nil }
    return index
  }

  /// Takes the peer's offer as a browser does (RFC 8829 §5.10): every m-section that could be accepted gets a transceiver
  /// at once, its own, a waiting one that fits, or a new one that only receives.
  /// - Parameter templates: what new ones are made of, at most one of each kind.
  package mutating func setRemoteOffer(
    _ offer: SessionDescription, making templates: [LocalTransceiver]
  ) throws(NegotiationError) {
    let before = try check(offer)
    var taken = RemoteOffer(description: offer, matching: .settled)
    let bundle = AnswerPlan.chooseBundle(
      offer, before?.lines ?? [], takesDataChannels: dataChannels != nil)
    let known = Set((before?.lines ?? []).compactMap(\.transceiver))
    for (index, section) in offer.media.enumerated() {
      let isFirst = taken.owners.isEmpty
      guard let kind = MediaKind(section.kind), AnswerPlan.obstacle(section, bundle, isFirst: isFirst) == nil else {
        continue
      }
      let line = before.flatMap { index < $0.lines.count ? $0.lines[index] : nil }
      if let id = line?.transceiver, section.mid == nil || section.mid == line?.mid {
        taken.owners[index] = id
      } else if let id = waiting(for: section, kind, except: known.union(taken.owners.values)) {
        taken.owners[index] = id
      } else if let template = templates.first(where: { $0.kind == kind }), canAdd,
        !AnswerPlan.bind(template, section).isEmpty
      {
        var media = template
        media.direction = .recvonly
        let id = add(media, for: .remoteSection)
        taken.owners[index] = id
        taken.made.append(id)
      }
    }
    state = .haveRemoteOffer(taken, before: before)
  }

  private var canAdd: Bool {
    transceivers.count < PeerLimits.transceiversInAll
      && transceivers.count { $0.life == .running } < PeerLimits.transceivers
  }

  private func waiting(
    for section: MediaDescription, _ kind: MediaKind, except taken: Set<TransceiverID>
  ) -> TransceiverID? {
    transceivers.indices.lazy.map { TransceiverID(index: $0) }.first { id in
      let transceiver = transceivers[id.index]
      guard transceiver.life == .running, transceiver.media.kind == kind, !taken.contains(id) else { return false }
      switch transceiver.purpose {
      case .anything:
        return transceiver.media.direction.intersection(section.direction.reversed) != .inactive
      case .track: return section.direction.receives
      case .ownSection, .remoteSection: return false
      }
    }
  }

  /// - Returns: the agreement so far.
  private func check(_ offer: SessionDescription) throws(NegotiationError) -> Agreement? {
    guard case .stable(let before) = state else { throw .misuse(.wrongState(signalingState)) }
    try offer.checkBundles()
    let lines = before?.lines ?? []
    guard offer.media.count >= lines.count else {
      throw .peer(.sectionCount(expected: lines.count, got: offer.media.count))
    }
    for (index, line) in lines.enumerated() {
      let section = offer.media[index]
      let same = section.kind == line.kind && (section.mid ?? line.mid) == line.mid
      guard same || line.use == .rejected else { throw .peer(.sectionChanged, offer.reference(index)) }
    }
    let live = offer.media.indices.filter { !offer.media[$0].isRejected }
    if !live.isEmpty, let before, let remote = try? RemoteTransport(offer, accepted: live) {
      try remote.checkFingerprints(before.session.transport)
    }
    return before
  }

  /// True when the pending offer of the peer restarts ICE: `transport.credentials` must then be replaced before answering.
  package var remoteRestartsICE: Bool {
    guard case .haveRemoteOffer(let offer, let before?) = state else { return false }
    let live = offer.description.media.indices.filter { !offer.description.media[$0].isRejected }
    guard let remote = try? RemoteTransport(offer.description, accepted: live) else { return false }
    return remote.credentials != before.session.transport.remoteCredentials
  }

  /// Makes the answer to the pending offer and takes both as agreed.
  package mutating func createAnswer() throws(NegotiationError) -> SessionDescription {
    guard case .haveRemoteOffer(let taken, let before) = state else { throw .misuse(.wrongState(signalingState)) }
    let offer = taken.description
    let plan = AnswerPlan(offer: taken, before: before?.lines ?? [], negotiation: self)
    let agreed = try agreedTransport(offer, plan, before?.session.transport)
    let setup: SetupRole = agreed.dtlsRole == .server ? .passive : .active
    var description = newDescription()
    for (index, line) in plan.lines.enumerated() {
      let section = offer.media[index]
      if line.use == .dataChannels {
        description.media.append(
          dataChannelSection(line, answering: section, credentials: agreed.localCredentials, setup: setup))
        continue
      }
      guard let id = line.transceiver, let media = plan.media.first(where: { $0.transceiver == id }) else {
        description.media.append(
          LocalSection.rejected(
            line, proto: section.proto, formats: section.formats, payloads: section.payloads,
            transport: LocalSection.closedTransport(agreed.localCredentials, transport.fingerprint, setup)))
        continue
      }
      description.media.append(
        LocalSection(
          line: line, media: transceivers[id.index].media, direction: media.direction, proto: section.proto,
          credentials: agreed.localCredentials, fingerprint: transport.fingerprint,
          setup: setup, cname: cname,
          allowsMixedHeaderExtensions: section.allowsMixedHeaderExtensions,
          allowsReducedSizeRTCP: section.allowsReducedSizeRTCP
        ).description)
    }
    if !plan.accepted.isEmpty {
      description.media[agreed.tag.index].setCandidates(of: transport)
    }
    // Only the peer's own group is answered, without the members that were turned off (RFC 8843 §7.3.1).
    let bundled = plan.bundle.filter { mid in plan.accepted.contains { $0.mid == mid } }
    if !bundled.isEmpty { description.bundles = [bundled] }
    stopUnused(before: (before?.lines.compactMap(\.transceiver) ?? []) + taken.made, after: plan.lines)
    state = .stable(
      Agreement(
        offerer: .peer, local: description, remote: offer, lines: plan.lines,
        session: NegotiatedSession(
          transport: agreed, media: plan.media, dataChannels: plan.dataChannels,
          turnsOffDataChannels: turnOffDataChannels(before?.lines ?? [], plan.lines), rejected: plan.rejected)))
    return description
  }

  private func agreedTransport(
    _ offer: SessionDescription, _ plan: AnswerPlan, _ before: NegotiatedTransport?
  ) throws(NegotiationError) -> NegotiatedTransport {
    if plan.accepted.isEmpty {
      // A live session may lose all its media; a new one without any is none.
      guard let before else { throw .nothingAccepted(plan.rejected) }
      return before
    }
    let remote = try RemoteTransport(offer, accepted: plan.accepted.map(\.index))
    let restarts = before.map { $0.remoteCredentials != remote.credentials } ?? true
    if let before, restarts, before.localCredentials == transport.credentials {
      throw .misuse(.freshCredentialsNeeded)
    }
    var agreed = remote.agreed(
      role: try remote.roleWhenAnswering(before: before),
      localCredentials: restarts ? transport.credentials : before?.localCredentials ?? transport.credentials,
      offered: false, remoteIsLite: offer.isICELite, before: before)
    agreed.tag.mid = plan.lines[agreed.tag.index].mid
    return agreed
  }
}
