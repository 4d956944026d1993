/// The used and revoked links, and the wrong credentials, that several servers share. Any thread.
package protocol SharedAccess: AnyObject, Sendable {
  /// Counts one use of a link with a limited number of uses.
  /// - Parameter client: an unguessable, constant identifier of the client; see `AccessGate.use`.
  func use(_ link: SignedLink, client: String?) async -> LinkUseAnswer

  /// Undoes a counted use. Another use by the same client, which has come since, keeps it.
  func giveBack(_ use: LinkUse)

  /// Notifies the other servers of a link that was revoked here.
  /// - Parameter expires: the Unix time of the link's end; nil: none, or unknown.
  func revoke(_ id: String, expires: Int64?)

  /// Notifies the other servers of a wrong credential.
  /// - Parameter address: the client's IP address.
  func noteWrongTry(from address: String)

  /// Adds the links that this server knows as used or revoked.
  func add(_ ledger: LinkLedger)
}
