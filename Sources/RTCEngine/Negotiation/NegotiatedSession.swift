public import RTCDTLS
public import RTCPrimitives
public import RTCWire

/// What offer and answer agreed on.
public struct NegotiatedSession: Hashable, Sendable {
  /// The one transport that carries all m-sections (BUNDLE, RFC 8843).
  public var transport: NegotiatedTransport
  /// The accepted m-sections, in the order of the descriptions.
  public var media: [NegotiatedMedia]
  /// Nil when no data channels were agreed on.
  public var dataChannels: NegotiatedDataChannels?
  /// There were data channels, or our offer had an m-section for them, and there are none now.
  public var turnsOffDataChannels = false
  /// The others, the turned-off ones included.
  public var rejected: [Rejection]

  /// Header extension numbers mean the same in all m-sections of a bundle (RFC 8843 §9.1): number → URI.
  public var headerExtensions: [UInt8: String] {
    var map: [UInt8: String] = [:]
    for item in media.flatMap(\.headerExtensions) where map[item.id] == nil { map[item.id] = item.uri }
    return map
  }
}

/// How the two peers reach and authenticate each other.
public struct NegotiatedTransport: Hashable, Sendable {
  /// Our user name fragment and password for ICE.
  public var localCredentials: ICECredentials
  /// The remote peer's user name fragment and password for ICE.
  public var remoteCredentials: ICECredentials
  /// This exchange changed the peer's credentials: check lists start anew (RFC 8445 §9).
  public var restartsICE: Bool
  /// The role to start ICE with (RFC 8445 §6.1.1).
  public var isControlling: Bool
  /// The remote peer is an ICE lite agent, which checks no paths itself (RFC 8445 §2.5).
  public var remoteIsLite: Bool
  /// The remote peer may send further candidates after its description (`a=ice-options:trickle`, RFC 8840).
  public var remoteTrickles: Bool
  /// Those in the description, component 1 only; more may be trickled.
  public var remoteCandidates: [CandidateDescription]
  /// The remote peer has said that no more candidates follow (`a=end-of-candidates`, RFC 8840).
  public var remoteEndOfCandidates: Bool
  /// At least one is SHA-256; the peer's certificate must match it.
  public var remoteFingerprints: [CertificateFingerprint]
  /// Our role.
  public var dtlsRole: DTLSRole
  /// The m-section under which candidates of the transport are trickled.
  public var tag: MediaReference

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
public struct NegotiatedMedia: Hashable, Sendable {
  /// Which of our transceivers it is.
  public var transceiver: TransceiverID
  /// Which m-section it is.
  public var reference: MediaReference
  /// Sound or video.
  public var kind: MediaKind
  /// What we may do.
  public var direction: MediaDirection
  /// What we may send, the best first; empty when we may not send.
  public var sendCodecs: [NegotiatedCodec]
  /// What may arrive, by our payload types; empty when we do not receive.
  public var receiveCodecs: [NegotiatedCodec]
  /// Those that both sides know.
  public var headerExtensions: [NegotiatedHeaderExtension]
  /// One- and two-byte header extensions may be mixed (RFC 8285 §4.1.2).
  public var allowsMixedHeaderExtensions: Bool
  /// RTCP packets need not be compound (`a=rtcp-rsize`, RFC 5506).
  public var allowsReducedSizeRTCP: Bool
  /// What the peer says of its sources; often nothing, then sources are learned from packets.
  public var remoteSources: [MediaSource]
  /// Sources of the remote peer that belong together, such as a stream and its retransmissions (`a=ssrc-group`, RFC
  /// 5576).
  public var remoteSourceGroups: [MediaSourceGroup]
  /// The streams and the track that the remote peer's media belongs to (`a=msid`, RFC 8830).
  public var remoteStreamIdentifiers: [MediaStreamIdentifier]
  /// The peer's `b=TIAS` or `b=AS`: what it wants to receive at most.
  public var remoteBandwidth: BitRate?

  /// What to send with.
  public var sendCodec: NegotiatedCodec? { sendCodecs.first }

  /// The source that carries retransmissions of `ssrc`, where the peer says so (`a=ssrc-group:FID`).
  public func remoteRetransmissionSource(of ssrc: SSRC) -> SSRC? {
    remoteSourceGroups.first { $0.semantics == "FID" && $0.sources.count == 2 && $0.sources[0] == ssrc }?.sources[1]
  }
}

/// A codec that both sides can use in an m-section.
public struct NegotiatedCodec: Hashable, Sendable {
  /// The one of ours that it is.
  public var capability: CodecCapability
  /// The number in RTP packets of this codec.
  public var payloadType: PayloadType
  /// Payload type of its retransmissions (RFC 4588); nil: they go in the stream itself or not at all.
  public var rtxPayloadType: PayloadType?
  /// What the receiver asks for: the peer's when sending, ours when receiving.
  public var parameters: FormatParameters
  /// What both sides use.
  public var feedback: FeedbackMechanisms
}

/// A header extension that both sides can use in an m-section (RFC 8285).
public struct NegotiatedHeaderExtension: Hashable, Sendable {
  /// Its number in RTP packets: 1…14, or 16…255 where one- and two-byte extensions may be mixed.
  public var id: UInt8
  /// The extension's name, as `a=extmap` has it.
  public var uri: String
  /// Which way we may use it, within the m-section's own direction.
  public var direction: MediaDirection
}
