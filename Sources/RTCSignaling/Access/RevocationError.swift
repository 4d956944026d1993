/// Why a link cannot be revoked.
public enum RevocationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// It is the secret itself.
  case ownSecret
  /// It was signed with another secret.
  case otherSecret
  /// It is neither a link nor an identifier.
  case noLink

  /// What is wrong, and what to do.
  public var description: String {
    switch self {
    case .ownSecret: "That is this server's own secret, not a link signed with it; start with another secret instead."
    case .otherSecret: "That link was not signed with this server's secret, or it was altered; it lets nobody in here."
    case .noLink: "Revoking takes a link that `rtcast link` made, its token, or its identifier."
    }
  }
}
