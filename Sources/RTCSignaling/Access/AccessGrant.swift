/// The credential by which a client was admitted.
package enum AccessGrant: Sendable, Hashable {
  /// The server is open.
  case everybody
  /// The server's own secret: every right.
  case owner
  /// The token of that one name at the hub.
  case peer(String)
  /// A link that the owner signed.
  case link(SignedLink)

  /// Nil if the client came without a signed link.
  package var link: SignedLink? { if case .link(let link) = self { link } else { nil } }
}
