import RTCPrimitives
import RTCWire

extension Peer {
  // MARK: - Reading

  /// All transceivers, in the order they were added.
  public var transceivers: [TransceiverState] {
    negotiation.transceiverIDs.map { id in
      let media = negotiation[id]
      let isStopped = negotiation.isStopped(id)
      return TransceiverState(
        id: id, mid: isStopped ? nil : negotiation.mid(of: id), kind: media.kind, direction: media.direction,
        currentDirection: isStopped
          ? nil : negotiation.session?.media.first { $0.transceiver == id }?.direction, isStopped: isStopped)
    }
  }

  public var signalingState: SignalingState { negotiation.signalingState }

  /// True when an offer is due: nothing is pending, something is to be agreed, and no batch of changes is open.
  public var needsNegotiation: Bool {
    !isEnded && signalingState == .stable && !notice.isHeld && negotiation.isNegotiationNeeded
  }

  /// True when what the transceiver is given to send leaves.
  public func isSending(_ id: TransceiverID) -> Bool {
    videos.contains { $0.id == id && $0.isSending } || sounds.contains { $0.id == id && $0.isSending }
  }

  func video(_ id: TransceiverID) -> Int? {
    for index in videos.indices where videos[index].id == id { return index }
    return nil
  }

  func sound(_ id: TransceiverID) -> Int? {
    for index in sounds.indices where sounds[index].id == id { return index }
    return nil
  }

  // MARK: - Commands

  mutating func addTransceiver(
    _ kind: MediaKind, _ direction: MediaDirection, _ track: TrackName?, into outbox: inout Outbox
  ) throws(NegotiationFailure) {
    guard videos.count + sounds.count < Negotiation.maximumTransceivers * 4 else {
      throw NegotiationFailure(
        kind: .wrongState, sentence: "This connection has had too many transceivers; make a new one.")
    }
    var media = kind == .video ? Peer.videoTemplate(configuration) : Peer.audioTemplate(configuration)
    media.direction = direction
    let id = negotiation.add(media, for: .ownSection)
    makeMedia(id, track)
    outbox.events.append(.transceiverChosen(id))
  }

  mutating func addTrack(
    _ kind: MediaKind, _ track: TrackName, into outbox: inout Outbox
  ) throws(NegotiationFailure) {
    guard let id = transceiverWithoutTrack(kind) else {
      try addTransceiver(kind, .sendrecv, track, into: &outbox)
      if case .transceiverChosen(let id) = outbox.events.last { negotiation.setPurpose(.track, of: id) }
      return
    }
    negotiation.claim(id)
    let direction = negotiation[id].direction
    negotiation[id].direction = MediaDirection(sends: true, receives: direction.receives)
    setTrack(track, of: id)
    name(track, id)
    outbox.events.append(.transceiverChosen(id))
  }

  /// One that could send but never has (RFC 8829 §5.1).
  private func transceiverWithoutTrack(_ kind: MediaKind) -> TransceiverID? {
    switch kind {
    case .video:
      videos.first { $0.track == nil && $0.sender == nil && !negotiation.isStopped($0.id) }?.id
    case .audio:
      sounds.first { $0.track == nil && $0.sender == nil && !negotiation.isStopped($0.id) }?.id
    }
  }

  /// Another track in the same place: what the descriptions call it stays as it is (W3C WebRTC §5.2, replaceTrack).
  mutating func setTrack(_ track: TrackName?, of id: TransceiverID) {
    if let index = video(id) { videos[index].track = track }
    if let index = sound(id) { sounds[index].track = track }
  }

  mutating func setMuted(_ isMuted: Bool, of id: TransceiverID) {
    if let index = video(id) { videos[index].isMuted = isMuted }
    if let index = sound(id) { sounds[index].isMuted = isMuted }
  }

  /// Ends the transceiver at once on our side; the far side hears of it by the next offer, and by BYE.
  mutating func stop(_ id: TransceiverID, into outbox: inout Outbox) {
    negotiation.stop(id)
    let sources =
      videos.filter { $0.id == id && $0.hasSent }.map(\.identity.ssrc)
      + sounds.filter { $0.id == id && $0.hasSent }.map(\.identity.ssrc)
    if !sources.isEmpty { sendGoodbye(sources, into: &outbox) }
    retire(id, into: &outbox)
  }

  /// Lets go of what a stopped transceiver has held.
  mutating func retire(_ id: TransceiverID, into outbox: inout Outbox) {
    if isSending(id) { outbox.events.append(.sendingStopped(id)) }
    if let index = video(id) { videos[index].end() }
    if let index = sound(id) { sounds[index].end() }
  }

  /// Throws for what is no transceiver of ours, or one that was stopped.
  func checkRuns(_ id: TransceiverID) throws(NegotiationFailure) {
    guard negotiation.knows(id), !negotiation.isStopped(id) else {
      throw NegotiationFailure(
        kind: .wrongState, sentence: "There is no \(id), or it was stopped; add a new transceiver.")
    }
  }

  // MARK: - Making

  mutating func addConfiguredTransceivers() {
    let video = configuration.sendsVideo
    if let direction = Self.direction(sends: video != nil, receives: configuration.receivesVideo) {
      var media = Peer.videoTemplate(configuration)
      media.direction = direction
      media.codecs = VideoPayloadFormat.capabilities(
        (video?.codecs ?? []) + (configuration.receivesVideo ? configuration.receivableVideo : []))
      makeMedia(
        negotiation.add(media), video.map { TrackName(streamID: $0.streamID, trackID: $0.trackID) })
    }
    let audio = configuration.sendsAudio
    if let direction = Self.direction(sends: audio != nil, receives: configuration.receivesAudio) {
      var media = Peer.audioTemplate(configuration)
      media.direction = direction
      media.codecs = [Peer.opus(audio?.opus ?? PeerConfiguration.OpusParameters())]
      makeMedia(
        negotiation.add(media), audio.map { TrackName(streamID: $0.streamID, trackID: $0.trackID) })
    }
  }

  private static func direction(sends: Bool, receives: Bool) -> MediaDirection? {
    sends || receives ? MediaDirection(sends: sends, receives: receives) : nil
  }

  static func videoTemplate(_ configuration: PeerConfiguration) -> LocalTransceiver {
    let extensions: [RTPHeaderExtensionURI] = [
      .mid, .absSendTime, .transportSequenceNumber, .videoContentType, .playoutDelay, .videoOrientation, .colorSpace,
    ]
    return LocalTransceiver(
      kind: .video, direction: .recvonly,
      codecs: VideoPayloadFormat.capabilities(configuration.sendableVideo + configuration.receivableVideo),
      headerExtensions: extensions.map { HeaderExtensionCapability(uri: $0.rawValue) })
  }

  static func audioTemplate(_ configuration: PeerConfiguration) -> LocalTransceiver {
    let extensions: [RTPHeaderExtensionURI] = [.mid, .absSendTime, .transportSequenceNumber, .audioLevel]
    return LocalTransceiver(
      kind: .audio, direction: .recvonly, codecs: [opus(configuration.opus)],
      headerExtensions: extensions.map { HeaderExtensionCapability(uri: $0.rawValue) })
  }

  private static func opus(_ parameters: PeerConfiguration.OpusParameters) -> CodecCapability {
    CodecCapability(
      name: "opus", clockRate: UInt32(AudioSendStream.clockRate), channels: 2,
      parameters: FormatParameters(parameters.text), feedback: [.transportCC], preferredPayloadType: PayloadType(111))
  }

  /// Gives the transceiver its place in the peer, and its numbers, which are described from the beginning: a track that is
  /// put in later needs no new negotiation.
  mutating func makeMedia(_ id: TransceiverID, _ track: TrackName?) {
    let name = track ?? TrackName(trackID: "track-" + String(random.next(), radix: 36))
    switch negotiation[id].kind {
    case .video:
      let identity = videos.isEmpty ? primary : drawVideoIdentity()
      videos.append(PeerVideo(id: id, identity: identity, track: track))
    case .audio:
      sounds.append(
        PeerAudio(id: id, identity: drawAudioIdentity(), track: track, bitrates: configuration.audioBitrates))
    }
    self.name(name, id)
  }

  /// What the descriptions call what we send.
  private mutating func name(_ track: TrackName, _ id: TransceiverID) {
    if let index = video(id) {
      negotiation[id].track = LocalTrack(
        streamID: track.streamID, trackID: track.trackID, ssrc: videos[index].identity.ssrc,
        rtxSSRC: videos[index].identity.rtxSSRC)
    } else if let index = sound(id) {
      negotiation[id].track = LocalTrack(
        streamID: track.streamID, trackID: track.trackID, ssrc: sounds[index].identity.ssrc)
    }
  }

  /// Makes places for transceivers that the far side's offer called for, and takes them back after a rollback.
  mutating func matchTransceivers() {
    videos.removeAll { !negotiation.knows($0.id) }
    sounds.removeAll { !negotiation.knows($0.id) }
    for id in negotiation.transceiverIDs where video(id) == nil && sound(id) == nil { makeMedia(id, nil) }
  }

  // MARK: - Numbers

  private mutating func drawVideoIdentity() -> SendStreamIdentity {
    var identity = SendStreamIdentity(using: &random)
    identity.ssrc = drawSource(identity.ssrc)
    repeat { identity.rtxSSRC = drawSource(identity.rtxSSRC) } while identity.rtxSSRC == identity.ssrc
    identity.cname = primary.cname
    return identity
  }

  private mutating func drawAudioIdentity() -> AudioSendIdentity {
    AudioSendIdentity(
      ssrc: drawSource(SSRC(UInt32(truncatingIfNeeded: random.next()))), cname: primary.cname,
      firstSequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: random.next()) & 0x7FFF),
      timestampOffset: RTPTimestamp(UInt32(truncatingIfNeeded: random.next())))
  }

  /// `wanted`, or another when that is somebody's already.
  private mutating func drawSource(_ wanted: SSRC) -> SSRC {
    var source = wanted
    while isOurs(source) || streams.owner(of: source) != nil {
      source = SSRC(UInt32(truncatingIfNeeded: random.next()))
    }
    return source
  }

  func isOurs(_ source: SSRC) -> Bool {
    source == primary.ssrc || source == primary.rtxSSRC
      || videos.contains { $0.identity.ssrc == source || $0.identity.rtxSSRC == source }
      || sounds.contains { $0.identity.ssrc == source }
  }

  /// Gives other numbers to those of our streams that have not begun and whose source the far side's offer uses itself
  /// (RFC 3550 §8.2). Streams under way keep theirs: the directions are told apart anyway.
  mutating func avoidSources(of offer: SessionDescription) {
    let theirs = Set(offer.media.lazy.flatMap(\.sources).map(\.ssrc))
    guard !theirs.isEmpty else { return }
    if theirs.contains(primary.ssrc), !videos.contains(where: { $0.identity.ssrc == primary.ssrc && $0.sender != nil })
    {
      primary.ssrc = freeSource(theirs)
    }
    for index in videos.indices where videos[index].sender == nil {
      let identity = videos[index].identity
      guard theirs.contains(identity.ssrc) || theirs.contains(identity.rtxSSRC) else { continue }
      videos[index].identity.ssrc = freeSource(theirs)
      videos[index].identity.rtxSSRC = freeSource(theirs)
    }
    for index in sounds.indices where sounds[index].sender == nil && theirs.contains(sounds[index].identity.ssrc) {
      sounds[index].identity.ssrc = freeSource(theirs)
    }
    describeSources()
  }

  /// What our descriptions say of our sources is what we send.
  mutating func describeSources() {
    for video in videos {
      negotiation[video.id].track?.ssrc = video.identity.ssrc
      negotiation[video.id].track?.rtxSSRC = video.identity.rtxSSRC
    }
    for sound in sounds { negotiation[sound.id].track?.ssrc = sound.identity.ssrc }
  }

  private mutating func freeSource(_ theirs: Set<SSRC>) -> SSRC {
    var source: SSRC
    repeat { source = drawSource(SSRC(UInt32(truncatingIfNeeded: random.next()))) } while theirs.contains(source)
    return source
  }
}
