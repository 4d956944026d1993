/// A decision about access: an admission, a refusal or a revocation, with its right and address. It holds no secret: a
/// link is recorded by its identifier.
public struct AuditEvent: Sendable, Hashable {
  /// The decision.
  public enum Decision: Sendable, Hashable {
    /// A session, a picture or a name at the hub was given.
    case admitted
    /// Access was refused. The reason is a code such as `bad-token` or `link-expired`.
    case refused(String)
    /// A link was revoked.
    case revoked
  }

  /// The credential by which a client was admitted.
  public enum Credential: Sendable, Hashable {
    /// No credential: the server is open.
    case open
    /// The server's own secret.
    case secret
    /// The token of one name at the hub.
    case nameToken
    /// A signed link, by its identifier.
    case link(String)
  }

  /// The decision.
  public var decision: Decision
  /// The requested right; nil of a revocation.
  public var right: AccessRight?
  /// The credential; nil if there was none, or if it was refused and identifies no link.
  public var credential: Credential?
  /// The client's IP address; empty when it is not known, or of a revocation.
  public var address: String
  /// The name at the hub, or the stream, that was asked for.
  public var name: String?
  /// Whether the token was neither the secret nor signed with it.
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

  /// Makes the refusal of a request that had been judged before.
  package init(
    _ refusal: AccessRefusal, right: AccessRight, by credential: Credential?, from address: String, name: String? = nil
  ) {
    self.init(.refused(refusal.code), right: right, by: credential, from: address, name: name)
    switch refusal {
    case .wrong, .slowed: isWrongToken = true
    case .missing, .expired, .clock, .usedUp, .uncounted, .revoked, .otherRight, .otherName, .otherStream: break
    }
  }
}

extension AccessGrant {
  /// The credential's name in the audit log.
  package var credential: AuditEvent.Credential {
    switch self {
    case .everybody: .open
    case .owner: .secret
    case .peer: .nameToken
    case .link(let link): .link(link.id)
    }
  }
}
