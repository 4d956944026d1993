/// The side that begins the DTLS handshake (RFC 4145 §4, RFC 8842 §5).
public enum SetupRole: String, Hashable, Sendable {
  case active, passive, actpass, holdconn
}
