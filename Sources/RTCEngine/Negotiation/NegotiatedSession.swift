package import RTCDTLS
package import RTCPrimitives
package import RTCWire

/// What offer and answer agreed on.
package struct NegotiatedSession: Hashable, Sendable {
  /// The one transport that carries all m-sections (BUNDLE, RFC 8843).
  package var transport: NegotiatedTransport
  /// The accepted m-sections, in the order of the descriptions.
  package var media: [NegotiatedMedia]
  /// Nil when no data channels were agreed on.
  package var dataChannels: NegotiatedDataChannels?
  /// There were data channels, or our offer had an m-section for them, and there are none now.
  package var turnsOffDataChannels = false
  /// The others, the turned-off ones included.
  package var rejected: [Rejection]

  /// Header extension numbers mean the same in all m-sections of a bundle (RFC 8843 §9.1): number → URI.
  package var headerExtensions: [UInt8: String] {
    var map: [UInt8: String] = [:]
    for item in media.flatMap(\.headerExtensions) where map[item.id] == nil { map[item.id] = item.uri }
    return map
  }
}

/// How the two peers reach and authenticate each other.
package struct NegotiatedTransport: Hashable, Sendable {
  /// Our user name fragment and password for ICE.
  package var localCredentials: ICECredentials
  /// The remote peer's user name fragment and password for ICE.
  package var remoteCredentials: ICECredentials
  /// This exchange changed the peer's credentials: check lists start anew (RFC 8445 §9).
  package var restartsICE: Bool
  /// The role to start ICE with (RFC 8445 §6.1.1).
  package var isControlling: Bool
  /// The remote peer is an ICE lite agent, which checks no paths itself (RFC 8445 §2.5).
  package var remoteIsLite: Bool
  /// The remote peer may send further candidates after its description (`a=ice-options:trickle`, RFC 8840).
  package var remoteTrickles: Bool
  /// Those in the description, component 1 only; more may be trickled.
  package var remoteCandidates: [CandidateDescription]
  /// The remote peer has said that no more candidates follow (`a=end-of-candidates`, RFC 8840).
  package var remoteEndOfCandidates: Bool
  /// At least one is SHA-256; the peer's certificate must match it.
  package var remoteFingerprints: [CertificateFingerprint]
  /// Our role.
  package var dtlsRole: DTLSRole
  /// The m-section under which candidates of the transport are trickled.
  package var tag: MediaReference

  package init(
    localCredentials: ICECredentials, remoteCredentials: ICECredentials, restartsICE: Bool, isControlling: Bool,
    remoteIsLite: Bool, remoteTrickles: Bool, remoteCandidates: [CandidateDescription], remoteEndOfCandidates: Bool,
    remoteFingerprints: [CertificateFingerprint], dtlsRole: DTLSRole, tag: MediaReference
  ) {
    self.localCredentials = localCredentials
    self.remoteCredentials = remoteCredentials
    self.restartsICE = restartsICE
    self.isControlling = isControlling
    self.remoteIsLite = remoteIsLite
    self.remoteTrickles = remoteTrickles
    self.remoteCandidates = remoteCandidates
    self.remoteEndOfCandidates = remoteEndOfCandidates
    self.remoteFingerprints = remoteFingerprints
    self.dtlsRole = dtlsRole
    self.tag = tag
  }
}

/// One accepted m-section.
package struct NegotiatedMedia: Hashable, Sendable {
  /// Which of our transceivers it is.
  package var transceiver: TransceiverID
  /// Which m-section it is.
  package var reference: MediaReference
  /// Sound or video.
  package var kind: MediaKind
  /// What we may do.
  package var direction: MediaDirection
  /// What we may send, the best first; empty when we may not send.
  package var sendCodecs: [NegotiatedCodec]
  /// What may arrive, by our payload types; empty when we do not receive.
  package var receiveCodecs: [NegotiatedCodec]
  /// How what we send may be repaired, by the remote peer's payload types; empty when we may not send.
  package var sendRepairs: [NegotiatedCodec] = []
  /// How what arrives may be repaired, by our payload types; empty when we do not receive.
  package var receiveRepairs: [NegotiatedCodec] = []
  /// Those that both sides know.
  package var headerExtensions: [NegotiatedHeaderExtension]
  /// One- and two-byte header extensions may be mixed (RFC 8285 §4.1.2).
  package var allowsMixedHeaderExtensions: Bool
  /// RTCP packets need not be compound (`a=rtcp-rsize`, RFC 5506).
  package var allowsReducedSizeRTCP: Bool
  /// What the peer says of its sources; often nothing, then sources are learned from packets.
  package var remoteSources: [MediaSource]
  /// Sources of the remote peer that belong together, such as a stream and its retransmissions (`a=ssrc-group`, RFC
  /// 5576).
  package var remoteSourceGroups: [MediaSourceGroup]
  /// The streams and the track that the remote peer's media belongs to (`a=msid`, RFC 8830).
  package var remoteStreamIdentifiers: [MediaStreamIdentifier]
  /// The peer's `b=TIAS` or `b=AS`: what it wants to receive at most.
  package var remoteBandwidth: BitRate?

  /// What to send with.
  package var sendCodec: NegotiatedCodec? { sendCodecs.first }

  /// The source that carries retransmissions of `ssrc`, where the peer says so (`a=ssrc-group:FID`).
  package func remoteRetransmissionSource(of ssrc: SSRC) -> SSRC? {
    remoteSourceGroups.first { $0.semantics == "FID" && $0.sources.count == 2 && $0.sources[0] == ssrc }?.sources[1]
  }

  /// Sorts what was agreed on by the direction it is for, codecs apart from repair.
  mutating func setCodecs(send: [NegotiatedCodec], receive: [NegotiatedCodec]) {
    if direction.sends {
      sendCodecs = send.filter { !$0.capability.isRepair }
      sendRepairs = send.filter(\.capability.isRepair)
    }
    if direction.receives {
      receiveCodecs = receive.filter { !$0.capability.isRepair }
      receiveRepairs = receive.filter(\.capability.isRepair)
    }
  }
}

/// A codec that both sides can use in an m-section.
package struct NegotiatedCodec: Hashable, Sendable {
  /// The one of ours that it is.
  package var capability: CodecCapability
  /// The number in RTP packets of this codec.
  package var payloadType: PayloadType
  /// Payload type of its retransmissions (RFC 4588); nil: they go in the stream itself or not at all.
  package var rtxPayloadType: PayloadType?
  /// What the receiver asks for: the peer's when sending, ours when receiving.
  package var parameters: FormatParameters
  /// What both sides use.
  package var feedback: FeedbackMechanisms
}

/// A header extension that both sides can use in an m-section (RFC 8285).
package struct NegotiatedHeaderExtension: Hashable, Sendable {
  /// Its number in RTP packets: 1…14, or 16…255 where one- and two-byte extensions may be mixed.
  package var id: UInt8
  /// The extension's name, as `a=extmap` has it.
  package var uri: String
  /// Which way we may use it, within the m-section's own direction.
  package var direction: MediaDirection
}
