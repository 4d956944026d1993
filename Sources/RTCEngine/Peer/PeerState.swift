/// The life of a peer, as an application sees it (W3C RTCPeerConnectionState, with the reason of the end).
public enum PeerState: Hashable, Sendable {
  /// Nothing has been negotiated yet.
  case new
  /// Checking paths and shaking hands.
  case connecting
  /// Media flows.
  case connected
  /// Nothing has arrived for some seconds; the connection may recover by itself.
  case disconnected
  case ended(EndReason)
}

/// Why a peer's life ended.
public enum EndReason: Hashable, Sendable {
  /// We closed it.
  case closedLocally
  /// The remote peer said goodbye.
  case closedRemotely
  /// No path was found; or consent to send on the one in use ran out (RFC 7675), and no restart of ICE found another
  /// within `PeerConfiguration.connectTimeout`.
  case unreachable(PathsTried)
  /// The DTLS certificate is not the one in the description: the connection is intercepted, or the signaling is wrong.
  case fingerprintMismatch
  /// The DTLS handshake failed.
  case handshakeFailed(String)
  /// Not connected within the time allowed.
  case timedOut
  /// We closed it, because the remote peer continued to send datagrams that cost more than its share of the processor.
  case tooCostly
}
