package import RTCPrimitives
package import RTCWire

/// The kind of media of an RTP m-section.
public enum MediaKind: Hashable, Sendable {
  case audio, video

  init?(_ kind: MediaDescription.Kind) {
    switch kind {
    case .audio: self = .audio
    case .video: self = .video
    case .application, .other: return nil
    }
  }

  var descriptionKind: MediaDescription.Kind { self == .audio ? .audio : .video }
}

/// Names one of a negotiation's transceivers; never reused.
public struct TransceiverID: Hashable, Sendable {
  let index: Int
}

extension TransceiverID: CustomStringConvertible {
  /// For logs, such as `transceiver 2`.
  public var description: String { "transceiver \(index)" }
}

/// Why a transceiver was added, which decides what m-sections of the peer it takes up (RFC 8829 §5.10).
package enum TransceiverPurpose: Hashable, Sendable {
  /// To take up what fits, as a connection does that is made for one purpose.
  case anything
  /// To send a track: takes up an m-section that the peer receives in.
  case track
  /// The transceiver gets an m-section of its own in our next offer.
  case ownSection
  /// For an m-section of the peer's.
  case remoteSection
}

/// A header extension we can use (RFC 8285).
package struct HeaderExtensionCapability: Hashable, Sendable {
  /// The extension's name, as `a=extmap` has it.
  package var uri: String
  /// The direction in which we use it: `playout-delay` of a sender is `sendonly`.
  package var direction: MediaDirection

  /// An extension that we use both ways, unless a direction is given.
  package init(uri: String, direction: MediaDirection = .sendrecv) {
    self.uri = uri
    self.direction = direction
  }
}

/// The track that we send in one m-section, as in `a=msid` and `a=ssrc`.
package struct LocalTrack: Hashable, Sendable {
  /// Tracks of one stream are played in sync; `-` when in none.
  package var streamID: String
  /// 1–64 token characters (RFC 8830).
  package var trackID: String
  /// The source of the media packets.
  package var ssrc: SSRC
  /// Carries retransmissions (RFC 4588); used only when the peer takes `rtx`.
  package var rtxSSRC: SSRC?
  /// Carries repair packets of FlexFEC; used only when the peer takes them.
  package var fecSSRC: SSRC?

  /// A track in no stream and without repair, unless they are given.
  package init(
    streamID: String = "-", trackID: String, ssrc: SSRC, rtxSSRC: SSRC? = nil, fecSSRC: SSRC? = nil
  ) {
    self.streamID = streamID
    self.trackID = trackID
    self.ssrc = ssrc
    self.rtxSSRC = rtxSSRC
    self.fecSSRC = fecSSRC
  }
}

/// The capabilities of a transceiver in one m-section; the negotiation assigns the mid.
package struct LocalTransceiver: Hashable, Sendable {
  /// Sound or video; fixed for the m-section's life.
  package var kind: MediaKind
  /// The direction that we want; the remote peer may allow less.
  package var direction: MediaDirection
  /// In order of preference.
  package var codecs: [CodecCapability]
  /// The header extensions that we offer, or accept if the remote peer offers them.
  package var headerExtensions: [HeaderExtensionCapability]
  /// The name of the sent track. A sending direction without it sends nothing.
  package var track: LocalTrack?

  /// A transceiver without header extensions and track, unless they are given.
  package init(
    kind: MediaKind, direction: MediaDirection, codecs: [CodecCapability],
    headerExtensions: [HeaderExtensionCapability] = [], track: LocalTrack? = nil
  ) {
    self.kind = kind
    self.direction = direction
    self.codecs = codecs
    self.headerExtensions = headerExtensions
    self.track = track
  }
}

/// Our end of the one transport that all m-sections share.
package struct LocalTransport: Hashable, Sendable {
  /// New ones make the next offer an ICE restart.
  package var credentials: ICECredentials
  /// SHA-256 of our certificate, 32 bytes.
  package var fingerprint: [UInt8]
  /// Candidates known when a description is made; more may be trickled.
  package var candidates: [CandidateDescription]
  /// True when no more will follow.
  package var endOfCandidates: Bool

  /// Traps when the fingerprint is not of 32 bytes (SHA-256).
  package init(
    credentials: ICECredentials, fingerprint: [UInt8], candidates: [CandidateDescription] = [],
    endOfCandidates: Bool = false
  ) {
    precondition(fingerprint.count == 32, "a SHA-256 fingerprint has 32 bytes")
    self.credentials = credentials
    self.fingerprint = fingerprint
    self.candidates = candidates
    self.endOfCandidates = endOfCandidates
  }
}
