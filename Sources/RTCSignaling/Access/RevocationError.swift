/// Why a link cannot be revoked.
public enum RevocationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The text is the server's secret.
  case ownSecret
  /// The link was signed with another secret.
  case otherSecret
  /// The text is neither a link nor an identifier.
  case noLink

  /// A sentence for the user: the reason and the remedy.
  public var description: String {
    switch self {
    case .ownSecret: "That is this server's own secret, not a link signed with it; start with another secret instead."
    case .otherSecret: "That link was not signed with this server's secret, or it was altered; it lets nobody in here."
    case .noLink: "Revoking takes a link that `rtcast link` made, its token, or its identifier."
    }
  }
}
