package import RTCSignaling

/// A hub, and the token of the link that named it.
package struct LinkedHub: Hashable, Sendable {
  package var address: HubAddress
  package var token: String?

  package init(address: HubAddress, token: String? = nil) {
    self.address = address
    self.token = token
  }

  /// Takes what `HubAddress` takes, and links as people share them.
  init?(_ text: String) {
    let (address, fragment) = LinkFragment.split(text)
    guard let address = HubAddress(address) else { return nil }
    self.init(address: address, token: fragment.token)
  }
}
