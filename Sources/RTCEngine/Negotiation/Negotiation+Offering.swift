import RTCPrimitives
package import RTCWire

extension Negotiation {
  /// Makes our offer and takes it as the local description. Known m-sections keep their place, those turned off by
  /// both are used again for the same kind, new ones are appended. In `haveLocalOffer` it replaces the pending offer.
  package mutating func createOffer() throws(NegotiationError) -> SessionDescription {
    let before: Agreement?
    switch state {
    case .stable(let agreement), .haveLocalOffer(_, let agreement): before = agreement
    case .haveRemoteOffer, .closed: throw .misuse(.wrongState(signalingState))
    }
    let lines = linesToOffer(before)
    guard !lines.isEmpty else { throw .misuse(.nothingToOffer) }
    var description = newDescription()
    for (index, line) in lines.enumerated() {
      if line.use == .dataChannels {
        description.media.append(dataChannelSection(line, credentials: transport.credentials, setup: .actpass))
        continue
      }
      guard let id = line.transceiver else {
        let old = index < (before?.lines.count ?? 0) ? before?.local.media[index] : nil
        description.media.append(
          LocalSection.rejected(line, proto: old?.proto ?? "UDP/TLS/RTP/SAVPF", formats: old?.formats ?? ["0"]))
        continue
      }
      let media = transceivers[id.index].media
      description.media.append(
        LocalSection(
          line: line, media: media, direction: media.direction, credentials: transport.credentials,
          fingerprint: transport.fingerprint, setup: .actpass, cname: cname, allowsMixedHeaderExtensions: true,
          allowsReducedSizeRTCP: true
        ).description)
    }
    let used = lines.indices.filter { lines[$0].use != .rejected }
    if !used.isEmpty { description.bundles = [used.map { lines[$0].mid }] }
    if let tag = used.first {
      description.media[tag].setCandidates(of: transport)
    }
    state = .haveLocalOffer(
      LocalOffer(description: description, lines: lines, credentials: transport.credentials), before: before)
    return description
  }

  private func linesToOffer(_ before: Agreement?) -> [MediaLine] {
    var lines = before?.lines ?? []
    for index in lines.indices {
      if let id = lines[index].transceiver, transceivers[id.index].life == .stopped { lines[index].use = .rejected }
      // An m-section without a mid could not be bundled with others.
      lines[index].saysMid = true
    }
    for index in transceivers.indices where transceivers[index].life == .running {
      let id = TransceiverID(index: index)
      guard !lines.contains(where: { $0.transceiver == id }) else { continue }
      let kind = transceivers[index].media.kind.descriptionKind
      let line = MediaLine(mid: unusedMid(lines, before), kind: kind, use: .transceiver(id))
      // An m-section that we have just turned off can be reused only after the peer has seen it turned off (RFC 8829
      // §5.2.2).
      let free = lines.indices.first { index in
        lines[index].use == .rejected && lines[index].kind == kind && before?.lines[index].use == .rejected
      }
      if let free { lines[free] = line } else { lines.append(line) }
    }
    addDataChannelLine(to: &lines, before)
    number(&lines, before)
    return lines
  }

  /// Gives codecs and header extensions their numbers.
  private func number(_ lines: inout [MediaLine], _ before: Agreement?) {
    var numbers = NumberAllocation(lines: lines, remote: before?.remote)
    for index in lines.indices {
      guard let id = lines[index].transceiver else { continue }
      let media = transceivers[id.index].media
      let known = lines[index].bindings
      lines[index].bindings = media.codecs.compactMap { codec in
        guard offersRepair || !codec.isRepair || known.contains(where: { $0.capability == codec }) else { return nil }
        // Offered as at first: an answer had narrowed parameters and feedback to the peer's capabilities.
        let binding = known.first { $0.capability == codec } ?? numbers.bind(codec, in: lines)
        return binding.map {
          var binding = $0
          binding.parameters = codec.parameters
          binding.feedback = codec.feedback
          return binding
        }
      }
      lines[index].bindings.describeRedundancy()
      lines[index].headerExtensions = media.headerExtensions.compactMap { wanted in
        numbers.headerExtensionID(wanted.uri).map {
          NegotiatedHeaderExtension(id: $0, uri: wanted.uri, direction: wanted.direction)
        }
      }
    }
  }

  func unusedMid(_ lines: [MediaLine], _ before: Agreement?) -> String {
    let used = Set(lines.map(\.mid)).union(before?.lines.map(\.mid) ?? [])
    var number = lines.count
    while used.contains("\(number)") { number += 1 }
    return "\(number)"
  }

  /// Takes the answer to our offer.
  @discardableResult
  package mutating func setRemoteAnswer(_ answer: SessionDescription) throws(NegotiationError) -> NegotiatedSession {
    guard case .haveLocalOffer(let offer, let before) = state else { throw .misuse(.wrongState(signalingState)) }
    guard answer.media.count == offer.lines.count else {
      throw .peer(.sectionCount(expected: offer.lines.count, got: answer.media.count))
    }
    try answer.checkBundles()
    var lines = offer.lines
    var media: [NegotiatedMedia] = []
    var dataChannels: NegotiatedDataChannels?
    var rejected: [Rejection] = []
    for (index, section) in answer.media.enumerated() {
      let reference = MediaReference(index: index, mid: offer.lines[index].mid)
      guard section.kind == lines[index].kind, section.mid ?? lines[index].mid == lines[index].mid else {
        throw .peer(.sectionChanged, reference)
      }
      if section.isRejected {
        lines[index].use = .rejected
        rejected.append(Rejection(media: reference, reason: .turnedOffByPeer))
      } else if lines[index].use == .dataChannels {
        dataChannels = try agreeOnDataChannels(section, reference)
      } else if let id = lines[index].transceiver {
        media.append(
          try Self.agree(section, offer.description.media[index], &lines[index], reference, transceiver: id))
      } else {
        throw .peer(.acceptedRejectedSection, reference)
      }
    }
    let accepted = (media.map(\.reference) + [dataChannels?.reference].compactMap { $0 })
      .sorted { $0.index < $1.index }
    try Self.checkBundled(answer, accepted)
    let agreed = try agreedTransport(answer, offer, accepted, rejected, before?.session.transport)
    let session = NegotiatedSession(
      transport: agreed, media: media, dataChannels: dataChannels,
      turnsOffDataChannels: turnOffDataChannels(offer.lines, lines), rejected: rejected)
    stopUnused(before: offer.lines.compactMap(\.transceiver), after: lines)
    state = .stable(
      Agreement(offerer: .us, local: offer.description, remote: answer, lines: lines, session: session))
    return session
  }

  private func agreedTransport(
    _ answer: SessionDescription, _ offer: LocalOffer, _ accepted: [MediaReference], _ rejected: [Rejection],
    _ before: NegotiatedTransport?
  ) throws(NegotiationError) -> NegotiatedTransport {
    if accepted.isEmpty {
      guard let before else { throw .nothingAccepted(rejected) }
      return before
    }
    let remote = try RemoteTransport(answer, accepted: accepted.map(\.index))
    try remote.checkFingerprints(before)
    // A lite agent may keep its credentials for ever, and never compares ours with earlier ones.
    if let before, offer.credentials != before.localCredentials, remote.credentials == before.remoteCredentials,
      !answer.isICELite
    {
      throw .peer(.restartIgnored, remote.tag)
    }
    var agreed = remote.agreed(
      role: try remote.roleWhenAnswered(before: before), localCredentials: offer.credentials, offered: true,
      remoteIsLite: answer.isICELite, before: before)
    agreed.tag.mid = offer.lines[agreed.tag.index].mid
    return agreed
  }

  /// Several accepted m-sections must be in one bundle: we have one transport.
  private static func checkBundled(
    _ answer: SessionDescription, _ accepted: [MediaReference]
  ) throws(NegotiationError) {
    guard accepted.count > 1 else { return }
    let bundle = answer.bundles.first { $0.contains(accepted[0].mid ?? "") } ?? []
    for reference in accepted where !bundle.contains(reference.mid ?? "") {
      throw .peer(.notBundled, reference)
    }
  }

  private static func agree(
    _ section: MediaDescription, _ offered: MediaDescription, _ line: inout MediaLine, _ reference: MediaReference,
    transceiver: TransceiverID
  ) throws(NegotiationError) -> NegotiatedMedia {
    guard section.usesRTCPMux else { throw .peer(.missingRTCPMux, reference) }
    guard let kind = MediaKind(line.kind) else { throw .peer(.sectionChanged, reference) }
    let (send, receive) = codecs(section, line.bindings)
    guard !send.allSatisfy(\.capability.isRepair) else { throw .peer(.noCommonCodec, reference) }
    line.headerExtensions = line.headerExtensions.compactMap { item in
      guard let theirs = section.headerExtensions.first(where: { $0.uri == item.uri && $0.id == item.id }) else {
        return nil
      }
      let direction = item.direction.intersection((theirs.direction ?? .sendrecv).reversed)
      return direction == .inactive ? nil : NegotiatedHeaderExtension(id: item.id, uri: item.uri, direction: direction)
    }
    let direction = offered.direction.intersection(section.direction.reversed)
    var media = NegotiatedMedia(
      transceiver: transceiver, reference: reference, kind: kind, direction: direction,
      sendCodecs: [], receiveCodecs: [], headerExtensions: line.headerExtensions,
      allowsMixedHeaderExtensions: section.allowsMixedHeaderExtensions,
      allowsReducedSizeRTCP: section.allowsReducedSizeRTCP, remoteSources: [], remoteSourceGroups: [],
      remoteStreamIdentifiers: [])
    media.setCodecs(send: send, receive: receive)
    media.adopt(section)
    return media
  }

  /// The codecs of the answer, in its order (RFC 3264 §6.1): we send by its numbers and receive by ours.
  private static func codecs(
    _ section: MediaDescription, _ bindings: [PayloadBinding]
  ) -> (send: [NegotiatedCodec], receive: [NegotiatedCodec]) {
    var send: [NegotiatedCodec] = []
    var receive: [NegotiatedCodec] = []
    let retransmissions = section.retransmissions
    for format in section.payloads {
      let fitting = bindings.filter { $0.capability.matches(format) }
      guard let binding = fitting.first(where: { $0.payloadType == format.payloadType }) ?? fitting.first,
        !receive.contains(where: { $0.payloadType == binding.payloadType })
      else { continue }
      let rtx = binding.rtx == nil ? nil : retransmissions[format.payloadType]
      let feedback = binding.feedback.intersection(FeedbackMechanisms(format.feedback))
      send.append(
        NegotiatedCodec(
          capability: binding.capability, payloadType: format.payloadType, rtxPayloadType: rtx,
          parameters: format.parameters, feedback: feedback))
      receive.append(
        NegotiatedCodec(
          capability: binding.capability, payloadType: binding.payloadType,
          rtxPayloadType: rtx == nil ? nil : binding.rtx, parameters: binding.parameters, feedback: feedback))
    }
    return (send, receive)
  }
}
