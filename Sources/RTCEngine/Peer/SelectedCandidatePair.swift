public import RTCPrimitives
public import RTCWire

/// The two candidates that media goes between.
public struct SelectedCandidatePair: Hashable, Sendable {
  /// What carries the datagrams between them.
  public enum TransportProtocol: String, Hashable, Sendable {
    case udp, tcp
  }

  /// What ours is.
  public var localKind: ICECandidateKind
  /// What the remote peer's is.
  public var remoteKind: ICECandidateKind
  /// Where ours is reached.
  public var localAddress: SocketAddress
  /// Where the remote peer's is reached.
  public var remoteAddress: SocketAddress
  /// Between the two; how we reach a relay of ours is another matter.
  public var transportProtocol: TransportProtocol
}
