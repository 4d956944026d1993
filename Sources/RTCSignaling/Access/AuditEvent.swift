/// A decision about access: who was admitted, refused or shut out, by which right and from where. It holds no secret: a link is
/// named by its identifier.
public struct AuditEvent: Sendable, Hashable {
  /// What was decided.
  public enum Decision: Sendable, Hashable {
    /// A session, a picture or a name at the hub was given.
    case admitted
    /// Nothing was given, for this reason: a code such as `bad-token` or `link-expired`.
    case refused(String)
    /// A link was revoked.
    case revoked
  }

  /// What somebody was let in by.
  public enum Credential: Sendable, Hashable {
    /// Nothing: the server is open.
    case open
    /// The server's own secret.
    case secret
    /// The token of one name at the hub.
    case nameToken
    /// A signed link, by its identifier.
    case link(String)
  }

  /// What was decided.
  public var decision: Decision
  /// What was asked for; nil of a revocation.
  public var right: AccessRight?
  /// What was shown; nil when it was refused and names no link, or when nothing was shown.
  public var credential: Credential?
  /// The client's IP address; empty when it is not known, or of a revocation.
  public var address: String
  /// The name at the hub, or the stream, that was asked for.
  public var name: String?
  /// A token that is neither the secret nor signed with it was shown.
  package var isWrongToken = false

  /// A decision.
  public init(
    _ decision: Decision, right: AccessRight? = nil, by credential: Credential? = nil, from address: String = "",
    name: String? = nil
  ) {
    self.decision = decision
    self.right = right
    self.credential = credential
    self.address = address
    self.name = name
  }

  /// A refusal, with the link that was shown, whether its signature is right or not.
  package init(
    _ refusal: AccessRefusal, right: AccessRight, shown: String?, from address: String, name: String? = nil
  ) {
    self.init(refusal, right: right, by: shown.flatMap(SignedLink.id).map { .link($0) }, from: address, name: name)
  }

  /// A refusal of what had been judged before.
  package init(
    _ refusal: AccessRefusal, right: AccessRight, by credential: Credential?, from address: String, name: String? = nil
  ) {
    self.init(.refused(refusal.code), right: right, by: credential, from: address, name: name)
    switch refusal {
    case .wrong, .slowed: isWrongToken = true
    case .missing, .expired, .clock, .usedUp, .revoked, .otherRight, .otherName, .otherStream: break
    }
  }
}

extension AccessGrant {
  /// What it is called in the audit log.
  package var credential: AuditEvent.Credential {
    switch self {
    case .everybody: .open
    case .owner: .secret
    case .peer: .nameToken
    case .link(let link): .link(link.id)
    }
  }
}
