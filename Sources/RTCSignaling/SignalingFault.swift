/// Whose fault it is that signaling failed.
public enum SignalingFault: Sendable, Hashable {
  /// What was asked for makes no sense: the caller's.
  case caller
  /// The network's: no such host, nobody answers.
  case network
  /// The other side is there and says no.
  case permission
  /// The other side does not keep to the protocol.
  case server
}
