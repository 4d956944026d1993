import RTCICE
import RTCPrimitives

extension Peer {
  /// A snapshot of what the peer has done so far.
  public var statistics: PeerStatistics {
    var result = PeerStatistics()
    result.state = state
    let video = videos.first { $0.hasSent } ?? videos.first
    result.video = video?.statistics ?? SendStatistics()
    result.audio = (sounds.first { $0.hasSent } ?? sounds.first)?.statistics ?? AudioSendStatistics()
    result.roundTripTime = roundTripTime ?? ice.roundTripTime
    result.targetBitrate = bitrate.current
    result.loss = bitrate.lastSecondLoss
    result.selectedRoute = ice.selectedRoute
    result.videoFormats = video?.sender?.format.codecs.map(\.format) ?? []
    result.supportsColorSpace = video?.sender?.format.supportsColorSpace ?? false
    result.srtpProfile = srtpProfile.map { $0 == .aeadAes128Gcm ? "AEAD_AES_128_GCM" : "AES_CM_128_HMAC_SHA1_80" }
    result.framesReceived = videos.reduce(0) { $0 + ($1.receiver?.framesReceived ?? 0) }
    result.packetsReceived = videos.reduce(0) { $0 + ($1.receiver?.statistics.received ?? 0) }
    result.audioPacketsReceived = sounds.reduce(0) { $0 + ($1.receiver?.statistics.received ?? 0) }
    result.streams = streamStatistics
    result.drops = drops
    for reason in ICEDropReason.allCases { result.drops[.stun] += UInt64(ice.statistics.drops(reason)) }
    return result
  }

  private var streamStatistics: [StreamStatistics] {
    let videos = videos.map { video in
      StreamStatistics(
        transceiver: video.id, kind: .video, video: video.hasSent ? video.statistics : nil,
        reception: video.receiver.map {
          StreamStatistics.Reception(
            ssrc: $0.ssrc, packetsReceived: $0.statistics.received, packetsLost: $0.statistics.cumulativeLost,
            jitter: $0.statistics.jitter, framesReceived: $0.framesReceived)
        })
    }
    let sounds = sounds.map { sound in
      StreamStatistics(
        transceiver: sound.id, kind: .audio, audio: sound.hasSent ? sound.statistics : nil,
        reception: sound.receiver.map {
          StreamStatistics.Reception(
            ssrc: $0.ssrc, packetsReceived: $0.statistics.received, packetsLost: $0.statistics.cumulativeLost,
            jitter: $0.statistics.jitter, audioLevel: $0.level?.linear)
        })
    }
    return (videos + sounds).filter { $0.video != nil || $0.audio != nil || $0.reception != nil }
  }

  /// What this transceiver's video may be sent as, the best first, and whether the far side understands what
  /// `EncodedFrame.colorSpace` says; empty until it is agreed.
  public func videoFormats(of id: TransceiverID) -> (formats: [VideoPayloadFormat], supportsColorSpace: Bool) {
    guard let format = videos.first(where: { $0.id == id })?.sender?.format else { return ([], false) }
    return (format.codecs.map(\.format), format.supportsColorSpace)
  }

  /// What the far side asks of the Opus it is sent on this transceiver.
  public func opusPreferences(of id: TransceiverID) -> OpusPreferences {
    sounds.first { $0.id == id }?.wishes ?? OpusPreferences()
  }

  /// Packets kept for being sent again.
  package var retainedPackets: Int { videos.reduce(0) { $0 + ($1.sender?.retainedPackets ?? 0) } }

  /// The far sender's clocks of the first video and sound, as far as it has reported them.
  package var senderClocks: (video: SenderClock?, audio: SenderClock?) {
    (
      videos.lazy.compactMap(\.incoming.senderClock).first,
      sounds.lazy.compactMap { $0.lastSenderReport?.clock }.first
    )
  }
}
