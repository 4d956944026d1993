package import RTCDTLS
package import RTCPrimitives
package import RTCWire

/// The result of an offer/answer exchange.
package struct NegotiatedSession: Hashable, Sendable {
  /// The transport of all m-sections (BUNDLE, RFC 8843).
  package var transport: NegotiatedTransport
  /// The accepted m-sections, in the order of the descriptions.
  package var media: [NegotiatedMedia]
  /// Nil when no data channels were agreed on.
  package var dataChannels: NegotiatedDataChannels?
  /// Whether data channels were used or offered before, and are off now.
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
  /// Whether this exchange changed the peer's credentials: check lists start again (RFC 8445 §9).
  package var restartsICE: Bool
  /// The role to start ICE with (RFC 8445 §6.1.1).
  package var isControlling: Bool
  /// The remote peer is an ICE lite agent, which checks no paths itself (RFC 8445 §2.5).
  package var remoteIsLite: Bool
  /// The remote peer may send further candidates after its description (`a=ice-options:trickle`, RFC 8840).
  package var remoteTrickles: Bool
  /// The candidates in the description, component 1 only; more may be trickled.
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
  /// Our transceiver.
  package var transceiver: TransceiverID
  /// The m-section.
  package var reference: MediaReference
  /// Sound or video.
  package var kind: MediaKind
  /// The direction that we may use.
  package var direction: MediaDirection
  /// The codecs that we may send, the best first; empty if we may not send.
  package var sendCodecs: [NegotiatedCodec]
  /// The codecs that may arrive, by our payload types; empty if we do not receive.
  package var receiveCodecs: [NegotiatedCodec]
  /// The repair formats that we may send, by the remote peer's payload types; empty if we may not send.
  package var sendRepairs: [NegotiatedCodec] = []
  /// How what arrives may be repaired, by our payload types; empty when we do not receive.
  package var receiveRepairs: [NegotiatedCodec] = []
  /// The header extensions that both sides know.
  package var headerExtensions: [NegotiatedHeaderExtension]
  /// One- and two-byte header extensions may be mixed (RFC 8285 §4.1.2).
  package var allowsMixedHeaderExtensions: Bool
  /// RTCP packets need not be compound (`a=rtcp-rsize`, RFC 5506).
  package var allowsReducedSizeRTCP: Bool
  /// The sources in the peer's description; often empty, then sources are learned from packets.
  package var remoteSources: [MediaSource]
  /// Sources of the remote peer that belong together, such as a stream and its retransmissions (`a=ssrc-group`, RFC
  /// 5576).
  package var remoteSourceGroups: [MediaSourceGroup]
  /// The streams and the track that the remote peer's media belongs to (`a=msid`, RFC 8830).
  package var remoteStreamIdentifiers: [MediaStreamIdentifier]
  /// The peer's `b=TIAS` or `b=AS`: the maximum that it wants to receive.
  package var remoteBandwidth: BitRate?

  /// The preferred codec for sending.
  package var sendCodec: NegotiatedCodec? { sendCodecs.first }

  /// The source that carries retransmissions of `ssrc`, if the peer announces one (`a=ssrc-group:FID`); for tests.
  package func remoteRetransmissionSource(of ssrc: SSRC) -> SSRC? {
    remoteSourceGroups.first { $0.semantics == "FID" && $0.sources.count == 2 && $0.sources[0] == ssrc }?.sources[1]
  }

  /// Sets the negotiated codecs by direction, separating repair formats.
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
  /// Our capability that it corresponds to.
  package var capability: CodecCapability
  /// The number in RTP packets of this codec.
  package var payloadType: PayloadType
  /// Payload type of its retransmissions (RFC 4588); nil: they go in the stream itself or not at all.
  package var rtxPayloadType: PayloadType?
  /// The receiver's parameters: the peer's when sending, ours when receiving.
  package var parameters: FormatParameters
  /// The feedback that both sides use.
  package var feedback: FeedbackMechanisms
}

/// A header extension that both sides can use in an m-section (RFC 8285).
package struct NegotiatedHeaderExtension: Hashable, Sendable {
  /// The number in RTP packets: 1…14, or 16…255 if one- and two-byte extensions may be mixed.
  package var id: UInt8
  /// The extension's name, as `a=extmap` has it.
  package var uri: String
  /// The direction in which we may use it, within the m-section's direction.
  package var direction: MediaDirection
}
