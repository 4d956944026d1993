import RTCDTLS
import RTCICE
import RTCPrimitives
import RTCWire

extension Peer {
  // MARK: - Trickled candidates

  /// Takes a candidate, or the empty one behind the last; keeps it until the description it belongs to is agreed.
  mutating func addRemoteCandidate(_ candidate: ICECandidateInit, now: Timestamp) throws(NegotiationFailure) {
    let isEnd = candidate.candidate.isEmpty
    let description = CandidateDescription(parsing: candidate.candidate)
    guard isEnd || description != nil else {
      throw NegotiationFailure(
        kind: .malformed, sentence: "The candidate cannot be read; it must be an RFC 8839 candidate attribute.")
    }
    let fragment = candidate.usernameFragment ?? description?.usernameFragment
    let known = negotiation.session?.transport.remoteCredentials.usernameFragment
    guard let known, fragment == known || (fragment == nil && negotiation.signalingState == .stable) else {
      if earlyCandidates.count >= Self.maximumEarlyCandidates { earlyCandidates.removeFirst() }
      earlyCandidates.append(candidate)
      return
    }
    if let usable = description.flatMap({ ICECandidate($0) }) {
      ice.addRemoteCandidate(usable, usernameFragment: fragment, now: now)
    }
    if isEnd { endRemoteCandidates(now: now) }
  }

  private mutating func endRemoteCandidates(now: Timestamp) {
    ice.endRemoteCandidates(now: now)
    timers[.ice] = ice.nextDeadline ?? .distantFuture
  }

  private static let maximumEarlyCandidates = 64

  /// Takes those whose description is agreed now.
  private mutating func takeEarlyCandidates(now: Timestamp) {
    let early = earlyCandidates
    earlyCandidates = []
    for candidate in early { try? addRemoteCandidate(candidate, now: now) }
  }

  mutating func addRemoteCandidates(_ text: String, now: Timestamp) throws(NegotiationFailure) {
    let fragment: TrickleFragment
    do throws(SDPError) {
      fragment = try TrickleFragment(parsing: text)
    } catch {
      throw NegotiationFailure(kind: .malformed, sentence: "The candidates cannot be read: \(error).")
    }
    let ufrag = fragment.effectiveCredentials?.usernameFragment
    if let ufrag, let known = negotiation.session?.transport.remoteCredentials.usernameFragment, ufrag != known {
      throw NegotiationFailure(
        kind: .unsupported, sentence: "An ICE restart by fragment is not possible here; open a new session.")
    }
    for candidate in fragment.candidates {
      guard let usable = ICECandidate(candidate) else { continue }
      ice.addRemoteCandidate(usable, usernameFragment: candidate.usernameFragment ?? ufrag, now: now)
    }
    if fragment.isComplete { endRemoteCandidates(now: now) }
  }

  // MARK: - Agreement

  /// Puts what was agreed to work: candidates, DTLS role, codecs, who sends and who receives.
  mutating func apply(
    _ session: NegotiatedSession, now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) {
    let transport = session.transport
    guard transport.remoteCredentials.isWellFormed, transport.localCredentials.isWellFormed else {
      throw NegotiationFailure(
        kind: .malformed, sentence: "The description's ice-ufrag or ice-pwd is too short or has characters it must not."
      )
    }
    if dtls == nil { try makeDtls(transport, now: now) }
    // The path in use stays in use until the new session has found one.
    let local = transport.localCredentials
    if local != ice.localCredentials { ice.restart(localCredentials: local, now: now) }
    tellUsernameFragment(local, into: &outbox)
    ice.setRole(transport.isControlling ? .controlling : .controlled)
    ice.setRemote(credentials: transport.remoteCredentials, isLite: transport.remoteIsLite, now: now)
    for candidate in transport.remoteCandidates {
      if let usable = ICECandidate(candidate) { ice.addRemoteCandidate(usable, now: now) }
    }
    takeEarlyCandidates(now: now)
    if transport.remoteEndOfCandidates { ice.endRemoteCandidates(now: now) }
    timers[.ice] = ice.nextDeadline ?? .distantFuture
    applyMedia(session, now: now, into: &outbox)
    updateDataChannels(now, into: &outbox)
  }

  /// Whoever finds peers by the user name in STUN requests must know all of this one's names.
  func tellUsernameFragment(_ credentials: ICECredentials, into outbox: inout Outbox) {
    guard credentials.usernameFragment != configuration.iceCredentials.usernameFragment else { return }
    outbox.events.append(.usernameFragmentAdded(credentials.usernameFragment))
  }

  private mutating func makeDtls(_ transport: NegotiatedTransport, now: Timestamp) throws(NegotiationFailure) {
    let fingerprints = transport.remoteFingerprints.filter(\.isSHA256)
    do throws(OpenSSLError) {
      dtls = try DTLSTransport(
        role: transport.dtlsRole, certificate: configuration.certificate,
        expectedFingerprints: fingerprints)
    } catch {
      throw NegotiationFailure(kind: .unsupported, sentence: "No DTLS association could be made: \(error).")
    }
    timers.advance(.connect, to: now + configuration.connectTimeout)
  }

  // MARK: - Media

  private mutating func applyMedia(_ session: NegotiatedSession, now: Timestamp, into outbox: inout Outbox) {
    incomingExtensions = RTPHeaderExtensionMap(session.headerExtensions)
    for index in videos.indices {
      let id = videos[index].id
      apply(session.media.first { $0.transceiver == id }, toVideo: index)
      if negotiation.isStopped(id) { retire(id, into: &outbox) }
    }
    for index in sounds.indices {
      let id = sounds[index].id
      apply(session.media.first { $0.transceiver == id }, toSound: index)
      if negotiation.isStopped(id) { retire(id, into: &outbox) }
    }
    let receiving = session.media.filter(\.direction.receives)
    streams.describe(
      receiving.flatMap { media in media.remoteSources.map { ($0.ssrc, media.transceiver) } },
      receiving: Set(receiving.map(\.transceiver)))
    updateSending(now, into: &outbox)
    setRepairTimer()
  }

  private mutating func apply(_ media: NegotiatedMedia?, toVideo index: Int) {
    videos[index].direction = media?.direction ?? .inactive
    videos[index].mid = media?.reference.mid.flatMap { RTPStreamID($0) }
    videos[index].ceiling = media?.remoteBandwidth
    if let media, media.sendCodec != nil {
      let format = SendStreamFormat(media)
      if videos[index].sender == nil {
        videos[index].sender = VideoSendStream(identity: videos[index].identity, format: format)
      } else if videos[index].sender!.format != format {
        videos[index].sender!.setFormat(format)
      }
      let repeatsItself = media.sendCodecs.contains { $0.rtxPayloadType == nil }
      videos[index].sentPackets = repeatsItself ? videos[index].sentPackets ?? SentPacketCache() : nil
    } else {
      videos[index].sender?.rest()
      videos[index].tail.deadline = .distantFuture
    }
    videos[index].agreement = media.flatMap { VideoAgreement($0) }
    videos[index].incoming.repairs =
      media?.remoteSourceGroups.filter { $0.semantics == "FID" && $0.sources.count == 2 }
      .map { (repair: $0.sources[1], media: $0.sources[0]) } ?? []
    if videos[index].agreement == nil {
      videos[index].receiver = nil
      videos[index].incoming.repairDeadline = .distantFuture
    }
  }

  private mutating func apply(_ media: NegotiatedMedia?, toSound index: Int) {
    sounds[index].direction = media?.direction ?? .inactive
    sounds[index].mid = media?.reference.mid.flatMap { RTPStreamID($0) }
    sounds[index].agreement = nil
    guard let media else {
      sounds[index].receiver = nil
      return
    }
    if let codec = media.sendCodec {
      sounds[index].wishes = OpusPreferences(codec.parameters)
      let format = AudioSendFormat(
        mid: sounds[index].mid, payloadType: codec.payloadType, extensionMap: media.extensionMap)
      if sounds[index].sender == nil {
        sounds[index].sender = AudioSendStream(identity: sounds[index].identity, format: format)
      } else {
        sounds[index].sender!.format = format
      }
    }
    if let codec = media.receiveCodecs.first {
      sounds[index].agreement = AudioAgreement(
        payloadType: codec.payloadType, extensionMap: media.extensionMap, feedback: codec.feedback)
    } else {
      sounds[index].receiver = nil
    }
  }
}

extension NegotiatedMedia {
  /// Numbers of the header extensions we know.
  var extensionMap: RTPHeaderExtensionMap {
    var map = RTPHeaderExtensionMap()
    for item in headerExtensions {
      if let uri = RTPHeaderExtensionURI(rawValue: item.uri) { map[uri] = item.id }
    }
    return map
  }
}

extension RTPHeaderExtensionMap {
  /// Those of `numbers` that we know.
  init(_ numbers: [UInt8: String]) {
    self.init()
    for (id, uri) in numbers {
      if let uri = RTPHeaderExtensionURI(rawValue: uri) { self[uri] = id }
    }
  }
}
