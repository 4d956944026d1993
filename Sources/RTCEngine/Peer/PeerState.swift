/// The life of a peer, as an application sees it (W3C RTCPeerConnectionState, with the reason of the end).
public enum PeerState: Hashable, Sendable {
  /// Nothing was negotiated yet.
  case new
  /// Checking paths and shaking hands.
  case connecting
  /// Media flows.
  case connected
  /// Nothing was heard for some seconds; may come back by itself.
  case disconnected
  case ended(EndReason)
}

/// Why a peer's life ended.
public enum EndReason: Hashable, Sendable {
  /// We closed it.
  case closedLocally
  /// The far side said goodbye.
  case closedRemotely
  /// No path was found, or it fell silent for thirty seconds (RFC 7675).
  case unreachable
  /// The DTLS certificate is not the one in the description: somebody is in between, or the signaling is wrong.
  case fingerprintMismatch
  /// The DTLS handshake failed.
  case handshakeFailed(String)
  /// Not connected within the time allowed.
  case timedOut
}

/// A description that cannot be used.
public struct NegotiationFailure: Error, Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// The text is not SDP, or breaks its rules.
    case malformed
    /// Valid, but nothing in it that we can send or receive.
    case noCommonCodec
    /// It asks for something we do not do (no BUNDLE, no rtcp-mux, no DTLS fingerprint …).
    case unsupported
    /// The right description at the wrong time.
    case wrongState
  }
  public var kind: Kind
  /// A sentence for whoever made the description.
  public var sentence: String

  public init(kind: Kind, sentence: String) {
    self.kind = kind
    self.sentence = sentence
  }
}
