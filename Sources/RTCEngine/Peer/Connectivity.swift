/// How the way to the remote peer is, beside the peer's state.
public enum Connectivity: Hashable, Sendable {
  /// Checks are answered.
  case good
  /// Nothing has arrived for some seconds, or the system refuses to send: an ICE restart may help.
  case silent
  /// Consent is over (RFC 7675): nothing but an ICE restart helps.
  case lost
}
