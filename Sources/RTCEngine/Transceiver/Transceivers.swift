package import RTCPrimitives
import RTCWire

/// A video transceiver: the sender and receiver of one m-section.
package struct VideoTransceiver {
  package let id: TransceiverID
  package var sender: VideoSender
  package var receiver: VideoReceiver

  /// Applies the negotiated media; nil: the m-section is gone.
  /// - Returns: true if sending has stopped.
  package mutating func configure(_ media: NegotiatedMedia?) -> Bool {
    receiver.configure(media)
    return sender.configure(media)
  }

  /// Releases everything but the totals.
  package mutating func end() {
    sender.end()
    receiver.end()
  }
}

/// An audio transceiver: the sender and receiver of one m-section.
package struct AudioTransceiver {
  package let id: TransceiverID
  package var sender: AudioSender
  package var receiver: AudioReceiver

  package mutating func configure(_ media: NegotiatedMedia?) {
    sender.configure(media)
    receiver.configure(media)
  }

  /// Releases everything but the totals.
  package mutating func end() {
    sender.end()
    receiver.end()
  }
}

/// All transceivers of a peer, and the numbers they send under.
package struct Transceivers {
  /// A transceiver's place.
  package enum Place: Hashable {
    case video(Int)
    case audio(Int)
  }

  package var video: [VideoTransceiver] = []
  package var audio: [AudioTransceiver] = []
  /// The identity of the first video. Its source also signs our RTCP, and its name is that of all our sources.
  package private(set) var primary: SendStreamIdentity
  private let audioBitrates: BitrateLimits
  /// The memory limit of all videos' packets that wait to become frames.
  private let waitingMemory: ByteBudget
  /// For SSRCs and first numbers: nothing secret.
  private var random: SeededGenerator

  /// - Parameter random: drawn from on. `primary` was drawn from it.
  package init(
    primary: SendStreamIdentity, audioBitrates: BitrateLimits, waitingMemory: ByteBudget, random: SeededGenerator
  ) {
    self.waitingMemory = waitingMemory
    self.primary = primary
    self.audioBitrates = audioBitrates
    self.random = random
  }

  package var count: Int { video.count + audio.count }

  package func place(of id: TransceiverID) -> Place? {
    for index in video.indices where video[index].id == id { return .video(index) }
    for index in audio.indices where audio[index].id == id { return .audio(index) }
    return nil
  }

  /// Whether the transceiver's track is being sent.
  package func isSending(_ id: TransceiverID) -> Bool {
    switch place(of: id) {
    case .video(let index): video[index].sender.isSending
    case .audio(let index): audio[index].sender.isSending
    case nil: false
    }
  }

  /// The transceivers that could send and never have, of one kind.
  package func idle(_ kind: MediaKind) -> [TransceiverID] {
    switch kind {
    case .video: video.filter { $0.sender.track == nil && !$0.sender.hasBegun }.map(\.id)
    case .audio: audio.filter { $0.sender.track == nil && !$0.sender.hasBegun }.map(\.id)
    }
  }

  /// The payload types that may arrive for the transceiver, including retransmissions.
  package func receivedPayloadTypes(of id: TransceiverID) -> [PayloadType] {
    switch place(of: id) {
    case .video(let index): video[index].receiver.payloadTypes
    case .audio(let index): audio[index].receiver.payloadTypes
    case nil: []
    }
  }

  /// A source that feedback on the transport as a whole can name; nil while nothing is received.
  package var receivedSource: SSRC? {
    for index in video.indices { if let ssrc = video[index].receiver.ssrc { return ssrc } }
    for index in audio.indices { if let ssrc = audio[index].receiver.ssrc { return ssrc } }
    return nil
  }

  // MARK: - Adding and removing

  /// Gives a transceiver its place and its numbers, which are described from the beginning: a track that is put in later
  /// needs no new negotiation.
  /// - Parameter isTaken: true for sources of the remote peer.
  /// - Returns: what descriptions call it.
  package mutating func add(
    _ id: TransceiverID, _ kind: MediaKind, _ track: TrackName?, isTaken: (SSRC) -> Bool
  ) -> LocalTrack {
    let name = track ?? TrackName(trackID: "track-" + String(random.next(), radix: 36))
    switch kind {
    case .video:
      let identity = video.isEmpty ? primary : drawVideoIdentity(isTaken)
      video.append(
        VideoTransceiver(
          id: id, sender: VideoSender(identity: identity, track: track),
          receiver: VideoReceiver(id: id, memory: waitingMemory)))
    case .audio:
      let sender = AudioSender(id: id, identity: drawAudioIdentity(isTaken), track: track, bitrates: audioBitrates)
      audio.append(AudioTransceiver(id: id, sender: sender, receiver: AudioReceiver(id: id)))
    }
    return localTrack(id, name)
  }

  package mutating func removeAll(where isGone: (TransceiverID) -> Bool) {
    video.removeAll { isGone($0.id) }
    audio.removeAll { isGone($0.id) }
  }

  /// Sets another track of the same transceiver.
  package mutating func setTrack(_ track: TrackName?, of id: TransceiverID) {
    switch place(of: id) {
    case .video(let index): video[index].sender.setTrack(track)
    case .audio(let index): audio[index].sender.setTrack(track)
    case nil: break
    }
  }

  /// Ends the transceiver for good.
  package mutating func end(_ id: TransceiverID) {
    switch place(of: id) {
    case .video(let index): video[index].end()
    case .audio(let index): audio[index].end()
    case nil: break
    }
  }

  package mutating func endAll() {
    for index in video.indices { video[index].end() }
    for index in audio.indices { audio[index].end() }
  }

  /// The source has changed hands.
  package mutating func release(_ source: SSRC, from id: TransceiverID) {
    switch place(of: id) {
    case .video(let index): video[index].receiver.release(source)
    case .audio(let index): audio[index].receiver.release(source)
    case nil: break
    }
  }

  // MARK: - Numbers

  /// The transceiver's track of this name in our descriptions.
  package func localTrack(_ id: TransceiverID, _ name: TrackName) -> LocalTrack {
    switch place(of: id) {
    case .video(let index):
      let identity = video[index].sender.identity
      return LocalTrack(
        streamID: name.streamID, trackID: name.trackID, ssrc: identity.ssrc, rtxSSRC: identity.rtxSSRC,
        fecSSRC: identity.fecSSRC)
    case .audio(let index):
      return LocalTrack(
        streamID: name.streamID, trackID: name.trackID, ssrc: audio[index].sender.identity.ssrc)
    case nil: preconditionFailure("Transceivers: there is no \(id)")
    }
  }

  /// The sources that have sent something: of one transceiver, or of all with the one that signs our RTCP.
  package func sentSources(of id: TransceiverID? = nil) -> [SSRC] {
    let videos = video.filter { (id == nil || $0.id == id) && $0.sender.hasSent }.map(\.sender.identity.ssrc)
    let audios = audio.filter { (id == nil || $0.id == id) && $0.sender.hasSent }.map(\.sender.identity.ssrc)
    guard id == nil else { return videos + audios }
    return [primary.ssrc] + videos.filter { $0 != primary.ssrc } + audios
  }

  private mutating func drawVideoIdentity(_ isTaken: (SSRC) -> Bool) -> SendStreamIdentity {
    var identity = SendStreamIdentity(using: &random)
    identity.ssrc = drawSource(identity.ssrc, isTaken)
    identity.rtxSSRC = drawSource(identity.rtxSSRC) { isTaken($0) || $0 == identity.ssrc }
    identity.fecSSRC = drawSource(identity.fecSSRC) { isTaken($0) || $0 == identity.ssrc || $0 == identity.rtxSSRC }
    identity.cname = primary.cname
    return identity
  }

  private mutating func drawAudioIdentity(_ isTaken: (SSRC) -> Bool) -> AudioSendIdentity {
    AudioSendIdentity(
      ssrc: drawSource(SSRC(UInt32(truncatingIfNeeded: random.next())), isTaken), cname: primary.cname,
      firstSequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: random.next()) & 0x7FFF),
      timestampOffset: RTPTimestamp(UInt32(truncatingIfNeeded: random.next())))
  }

  /// `wanted`, or another one if that is in use already.
  private mutating func drawSource(_ wanted: SSRC, _ isTaken: (SSRC) -> Bool) -> SSRC {
    var source = wanted
    while isOurs(source) || isTaken(source) { source = SSRC(UInt32(truncatingIfNeeded: random.next())) }
    return source
  }

  private func isOurs(_ source: SSRC) -> Bool {
    primary.sources.contains(source) || video.contains { $0.sender.identity.sources.contains(source) }
      || audio.contains { $0.sender.identity.ssrc == source }
  }

  /// Changes the sources of our streams that have not begun, if the remote peer uses the same numbers (RFC 3550 §8.2).
  /// Streams that have begun keep theirs, as the directions are distinct anyway.
  package mutating func avoid(_ theirs: Set<SSRC>, isTaken: (SSRC) -> Bool) {
    guard !theirs.isEmpty else { return }
    func isUsed(_ source: SSRC) -> Bool { theirs.contains(source) || isTaken(source) }
    if theirs.contains(primary.ssrc),
      !video.contains(where: { $0.sender.identity.ssrc == primary.ssrc && $0.sender.hasBegun })
    {
      primary.ssrc = drawFreeSource(isUsed)
    }
    for index in video.indices where !video[index].sender.hasBegun {
      let identity = video[index].sender.identity
      guard identity.sources.contains(where: theirs.contains) else { continue }
      let ssrc = drawFreeSource(isUsed)
      let rtx = drawFreeSource { isUsed($0) || $0 == ssrc }
      video[index].sender.setSources(
        ssrc: ssrc, rtxSSRC: rtx, fecSSRC: drawFreeSource { isUsed($0) || $0 == ssrc || $0 == rtx })
    }
    for index in audio.indices where !audio[index].sender.hasBegun {
      if theirs.contains(audio[index].sender.identity.ssrc) { audio[index].sender.setSource(drawFreeSource(isUsed)) }
    }
  }

  private mutating func drawFreeSource(_ isUsed: (SSRC) -> Bool) -> SSRC {
    drawSource(SSRC(UInt32(truncatingIfNeeded: random.next())), isUsed)
  }
}

extension SendStreamIdentity {
  /// All sources that it sends with.
  fileprivate var sources: [SSRC] { [ssrc, rtxSSRC, fecSSRC] }

  /// The first of a peer, with its name.
  init(using random: inout SeededGenerator) {
    self.init(
      ssrc: SSRC(UInt32(truncatingIfNeeded: random.next())), rtxSSRC: SSRC(UInt32(truncatingIfNeeded: random.next())),
      fecSSRC: SSRC(UInt32(truncatingIfNeeded: random.next())), cname: String(random.next(), radix: 36),
      firstSequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: random.next()) & 0x7FFF),
      timestampOffset: RTPTimestamp(UInt32(truncatingIfNeeded: random.next())),
      firstPictureID: UInt16(truncatingIfNeeded: random.next()) & 0x7FFF)
  }
}
