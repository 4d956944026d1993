import RTCICE
import RTCPrimitives
import RTCWire

/// The contents of descriptions that follow from a configuration.
extension PeerConfiguration {
  /// The candidates that are described to the remote peer. With the relay policy, related addresses are left out.
  func described(_ candidates: [ICECandidate]) -> [CandidateDescription] {
    candidates.compactMap { candidate in
      // Connections that are open already are ours to use; the remote peer sees where they come from.
      guard candidate.tcpType != .active, iceTransportPolicy == .all || candidate.kind == .relayed else { return nil }
      var shown = candidate
      if iceTransportPolicy == .relay { shown.relatedAddress = nil }
      return CandidateDescription(shown)
    }
  }

  /// A new receive-only transceiver with all our capabilities.
  func template(_ kind: MediaKind) -> LocalTransceiver {
    switch kind {
    case .video:
      let extensions: [RTPHeaderExtensionURI] = [
        .mid, .absSendTime, .transportSequenceNumber, .videoContentType, .playoutDelay, .videoOrientation, .colorSpace,
      ]
      return LocalTransceiver(
        kind: .video, direction: .recvonly,
        codecs: videoCapabilities(sendableVideo + receivableVideo),
        headerExtensions: extensions.map { HeaderExtensionCapability(uri: $0.rawValue) })
    case .audio:
      let extensions: [RTPHeaderExtensionURI] = [.mid, .absSendTime, .transportSequenceNumber, .audioLevel]
      return LocalTransceiver(
        kind: .audio, direction: .recvonly, codecs: audioCapabilities(opus),
        headerExtensions: extensions.map { HeaderExtensionCapability(uri: $0.rawValue) })
    }
  }

  private func videoCapabilities(_ formats: [VideoPayloadFormat]) -> [CodecCapability] {
    guard usesForwardErrorCorrection else { return VideoPayloadFormat.capabilities(formats) }
    let repairs = CodecCapability.videoRepair.filter { usesULPFEC || $0.name == "flexfec-03" }
    return VideoPayloadFormat.capabilities(formats) + repairs
  }

  private func audioCapabilities(_ opus: OpusParameters) -> [CodecCapability] {
    [opus.capability] + (usesForwardErrorCorrection ? [.audioRedundancy] : [])
  }

  /// The first transceivers and their tracks.
  var initialTransceivers: [(media: LocalTransceiver, track: TrackName?)] {
    var result: [(media: LocalTransceiver, track: TrackName?)] = []
    if sendsVideo != nil || receivesVideo {
      var media = template(.video)
      media.direction = MediaDirection(sends: sendsVideo != nil, receives: receivesVideo)
      media.codecs = videoCapabilities(
        (sendsVideo?.codecs ?? []) + (receivesVideo ? receivableVideo : []))
      result.append((media, sendsVideo.map { TrackName(streamID: $0.streamID, trackID: $0.trackID) }))
    }
    if sendsAudio != nil || receivesAudio {
      var media = template(.audio)
      media.direction = MediaDirection(sends: sendsAudio != nil, receives: receivesAudio)
      media.codecs = audioCapabilities(sendsAudio?.opus ?? OpusParameters())
      result.append((media, sendsAudio.map { TrackName(streamID: $0.streamID, trackID: $0.trackID) }))
    }
    return result
  }
}

extension PeerConfiguration.OpusParameters {
  var capability: CodecCapability {
    CodecCapability(
      name: "opus", clockRate: UInt32(AudioSendStream.clockRate), channels: 2, parameters: FormatParameters(text),
      feedback: [.transportCC], preferredPayloadType: PayloadType(111))
  }
}

extension Negotiation {
  /// The negotiation of a peer that is made with `configuration`.
  init(_ configuration: PeerConfiguration, cname: String, sessionID: UInt64, candidates: [ICECandidate]) {
    self.init(
      sessionID: sessionID, cname: cname,
      transport: LocalTransport(
        credentials: configuration.iceCredentials, fingerprint: configuration.certificate.fingerprint.bytes,
        candidates: configuration.described(candidates), endOfCandidates: configuration.isGatheringComplete))
    offersRepair = configuration.offersForwardErrorCorrection
    dataChannels = configuration.dataChannels.map {
      LocalDataChannels(maximumMessageSize: UInt64($0.maximumMessageSize))
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
  /// The known header extensions of `numbers`.
  init(_ numbers: [UInt8: String]) {
    self.init()
    for (id, uri) in numbers {
      if let uri = RTPHeaderExtensionURI(rawValue: uri) { self[uri] = id }
    }
  }
}
