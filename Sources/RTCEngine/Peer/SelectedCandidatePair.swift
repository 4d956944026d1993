public import RTCPrimitives
public import RTCWire

/// The two candidates that media goes between.
public struct SelectedCandidatePair: Hashable, Sendable {
  /// The transport protocol between the candidates.
  public enum TransportProtocol: String, Hashable, Sendable {
    case udp, tcp
  }

  /// The kind of the local candidate.
  public var localKind: ICECandidateKind
  /// The kind of the remote candidate.
  public var remoteKind: ICECandidateKind
  /// The address of the local candidate.
  public var localAddress: SocketAddress
  /// The address of the remote candidate.
  public var remoteAddress: SocketAddress
  /// Between the two; how we reach a relay of ours is another matter.
  public var transportProtocol: TransportProtocol
}
