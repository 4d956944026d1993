public import RTCWire

/// An offer or an answer as it is signaled.
public struct Description: Hashable, Sendable {
  /// The descriptions in use; provisional answers and rollbacks are not among them.
  public enum Kind: String, Hashable, Sendable {
    case offer, answer
  }
  /// Offer or answer.
  public var kind: Kind
  /// SDP (RFC 8866).
  public var sdp: String

  /// A description whose text is not checked yet.
  public init(kind: Kind, sdp: String) {
    self.kind = kind
    self.sdp = sdp
  }
}

/// The name of a track in our descriptions (RFC 8830).
public struct TrackName: Hashable, Sendable {
  /// Tracks of one stream are played in step; `-`: in none. 1–64 token characters.
  public var streamID: String
  /// 1–64 token characters.
  public var trackID: String

  /// A track in no stream, unless one is given.
  public init(streamID: String = "-", trackID: String) {
    self.streamID = streamID
    self.trackID = trackID
  }
}

/// How a transceiver stands.
public struct TransceiverState: Hashable, Sendable {
  /// The transceiver's identifier.
  public var id: TransceiverID
  /// Nil until an offer has it.
  public var mid: String?
  /// Sound or video.
  public var kind: MediaKind
  /// The direction that we want.
  public var direction: MediaDirection
  /// The negotiated direction; nil before the first agreement and when stopped.
  public var currentDirection: MediaDirection?
  /// Whether it was stopped: it neither sends nor receives again.
  public var isStopped: Bool
}
