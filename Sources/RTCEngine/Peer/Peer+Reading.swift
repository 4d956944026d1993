import RTCMedia
package import RTCPrimitives
package import RTCSCTP
import RTCWire

// MARK: - Reading

extension Peer {
  /// All transceivers, in the order they were added.
  package var transceivers: [TransceiverState] {
    negotiation.transceiverIDs.map { id in
      let wanted = negotiation[id]
      let isStopped = negotiation.isStopped(id)
      return TransceiverState(
        id: id, mid: isStopped ? nil : negotiation.mid(of: id), kind: wanted.kind, direction: wanted.direction,
        currentDirection: isStopped
          ? nil : negotiation.session?.media.first { $0.transceiver == id }?.direction, isStopped: isStopped)
    }
  }

  /// The state of the offer/answer exchange.
  package var signalingState: SignalingState { negotiation.signalingState }

  /// Whether an offer is due: none is pending, something is to be negotiated, and no batch of changes is open.
  package var needsNegotiation: Bool {
    !isEnded && signalingState == .stable && !negotiationNeeded.isHeld && negotiation.isNegotiationNeeded
  }

  /// Whether the transceiver's track is being sent.
  package func isSending(_ id: TransceiverID) -> Bool { media.transceivers.isSending(id) }

  /// The available bitrate of this transceiver's video; nil while it is not sent.
  package func videoBitrate(of id: TransceiverID) -> BitRate? {
    media.transceivers.video.first { $0.id == id }?.sender.share
  }

  /// The formats and features of a transceiver's outgoing video.
  package struct VideoAbilities {
    /// The best first.
    package var formats: [VideoPayloadFormat] = []
    /// The remote peer understands `EncodedFrame.colorSpace`.
    package var supportsColorSpace = false
    /// The remote peer turns pictures as `EncodedFrame.rotation` says.
    package var supportsOrientation = false
  }

  /// The negotiated formats and features of this transceiver's outgoing video; empty before the agreement.
  package func videoAbilities(of id: TransceiverID) -> VideoAbilities {
    guard let format = media.transceivers.video.first(where: { $0.id == id })?.sender.format else {
      return VideoAbilities()
    }
    return VideoAbilities(
      formats: format.codecs.map(\.format), supportsColorSpace: format.supportsColorSpace,
      supportsOrientation: format.supportsOrientation)
  }

  /// The RTP timestamp of the monotonic clock's origin in the first sent video. With `RTPTimestamp.init(video:)` it
  /// gives the timestamp of a picture for this remote peer.
  package var videoClock: RTPTimestamp? { media.transceivers.video.lazy.compactMap(\.sender.clock).first }

  /// The Opus preferences of the remote peer for this transceiver.
  package func opusPreferences(of id: TransceiverID) -> OpusPreferences {
    media.transceivers.audio.first { $0.id == id }?.sender.preferences ?? OpusPreferences()
  }

  /// An m-section for data channels is agreed on.
  package var hasDataChannels: Bool { negotiation.session?.dataChannels != nil }

  /// The number of a data channel's stream; nil until the association stands, for channels that are not negotiated.
  package func stream(of handle: DataChannelHandle) -> StreamID? { channels.stream(of: handle) }
  /// Bytes of messages that wait in a data channel.
  package func bufferedAmount(of handle: DataChannelHandle) -> Int { channels.bufferedAmount(of: handle) }
  /// The longest message the remote peer takes, in bytes; meaningful once the association stands.
  package var maximumOutgoingMessageSize: Int { channels.maximumOutgoingMessageSize }

  /// The estimated time until a packet sent now leaves all queues, here and in the network.
  package func sendBacklog(_ now: Timestamp) -> TimeDelta { media.backlog(now) }

  /// Packets kept for being sent again.
  package var retainedPackets: Int { media.transceivers.video.reduce(0) { $0 + $1.sender.retainedPackets } }

  /// The remote sender's clocks of the first video and sound, as far as it has reported them; for tests.
  package var senderClocks: (video: SenderClock?, audio: SenderClock?) {
    (
      media.transceivers.video.lazy.compactMap(\.receiver.senderClock).first,
      media.transceivers.audio.lazy.compactMap(\.receiver.senderClock).first
    )
  }

  // MARK: - Statistics

  /// A snapshot of the peer's statistics.
  package var statistics: PeerStatistics {
    let (videos, audios) = (media.transceivers.video, media.transceivers.audio)
    var result = PeerStatistics()
    result.state = state
    let video = (videos.first { $0.sender.hasSent } ?? videos.first)?.sender
    result.video = video?.statistics ?? SendStatistics()
    result.audio = (audios.first { $0.sender.hasSent } ?? audios.first)?.sender.statistics ?? AudioSendStatistics()
    result.roundTripTime = media.roundTripTime(transport)
    result.targetBitrate = media.rate.estimate.target
    result.loss = media.rate.estimate.loss
    result.network = media.rate.estimate
    result.selectedRoute = transport.selectedRoute
    result.selectedPair = transport.selectedPair
    result.videoFormats = video?.format?.codecs.map(\.format) ?? []
    result.supportsColorSpace = video?.format?.supportsColorSpace ?? false
    result.srtpProfile = transport.profileName
    result.keyCode = transport.keyCode
    result.framesReceived = videos.reduce(0) { $0 + $1.receiver.framesReceived }
    result.packetsReceived = videos.reduce(0) { $0 + $1.receiver.packetsReceived }
    result.audioPacketsReceived = audios.reduce(0) { $0 + $1.receiver.packetsReceived }
    let streams =
      videos.map {
        StreamStatistics(
          transceiver: $0.id, kind: .video, video: $0.sender.hasSent ? $0.sender.statistics : nil,
          reception: $0.receiver.statistics)
      }
      + audios.map {
        StreamStatistics(
          transceiver: $0.id, kind: .audio, audio: $0.sender.hasSent ? $0.sender.statistics : nil,
          reception: $0.receiver.statistics)
      }
    result.streams = streams.filter { $0.video != nil || $0.audio != nil || $0.reception != nil }
    result.drops = media.drops
    result.drops.add(transport.drops)
    return result
  }
}
