/// The party at fault when signaling failed.
public enum SignalingFault: Sendable, Hashable {
  /// The caller: the request makes no sense.
  case caller
  /// The network: no such host, no answer.
  case network
  /// The other side is there and says no.
  case permission
  /// The server breaks the protocol.
  case server
}
