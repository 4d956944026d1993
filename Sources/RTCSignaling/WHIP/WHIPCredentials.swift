/// The token of a WHIP client, and the origin that may see it.
package struct WHIPCredentials: Sendable, Hashable {
  private let home: WebAddress
  private let token: AccessToken?

  /// - Parameter home: the endpoint that the user named.
  package init(_ token: AccessToken?, home: WebAddress) {
    self.home = home
    self.token = token
  }

  /// The `Authorization` header for a request. A token never goes to another origin.
  package func authorization(for address: WebAddress) -> String? {
    address.hasSameOrigin(as: home) ? token?.authorization : nil
  }
}
