public import RTCDTLS
public import RTCPrimitives
public import RTCWire

/// What offer and answer agreed on.
public struct NegotiatedSession: Hashable, Sendable {
  public var transport: NegotiatedTransport
  /// The accepted m-sections, in the order of the descriptions.
  public var media: [NegotiatedMedia]
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

public struct NegotiatedTransport: Hashable, Sendable {
  public var localCredentials: ICECredentials
  public var remoteCredentials: ICECredentials
  /// This exchange changed the peer's credentials: check lists start anew (RFC 8445 §9).
  public var restartsICE: Bool
  /// The role to start ICE with (RFC 8445 §6.1.1).
  public var isControlling: Bool
  public var remoteIsLite: Bool
  public var remoteTrickles: Bool
  /// Those in the description, component 1 only; more may be trickled.
  public var remoteCandidates: [CandidateDescription]
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
  public var transceiver: TransceiverID
  public var reference: MediaReference
  public var kind: MediaKind
  /// What we may do.
  public var direction: MediaDirection
  /// What we may send, the best first; empty when we may not send.
  public var sendCodecs: [NegotiatedCodec]
  /// What may arrive, by our payload types; empty when we do not receive.
  public var receiveCodecs: [NegotiatedCodec]
  public var headerExtensions: [NegotiatedHeaderExtension]
  /// One- and two-byte header extensions may be mixed (RFC 8285 §4.1.2).
  public var allowsMixedHeaderExtensions: Bool
  public var allowsReducedSizeRTCP: Bool
  /// What the peer says of its sources; often nothing, then sources are learned from packets.
  public var remoteSources: [MediaSource]
  public var remoteSourceGroups: [MediaSourceGroup]
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

public struct NegotiatedCodec: Hashable, Sendable {
  /// The one of ours that it is.
  public var capability: CodecCapability
  public var payloadType: PayloadType
  /// Payload type of its retransmissions (RFC 4588); nil: they go in the stream itself or not at all.
  public var rtxPayloadType: PayloadType?
  /// What the receiver asks for: the peer's when sending, ours when receiving.
  public var parameters: FormatParameters
  /// What both sides use.
  public var feedback: FeedbackMechanisms
}

public struct NegotiatedHeaderExtension: Hashable, Sendable {
  public var id: UInt8
  public var uri: String
  /// Which way we may use it, within the m-section's own direction.
  public var direction: MediaDirection
}
