/// The address by which clients know a server behind a proxy: scheme, host, port, and the path of its front page.
public struct PublicAddress: Hashable, Sendable, CustomStringConvertible {
  /// The URL of the front page; its path ends in a slash.
  public let web: WebAddress

  /// Takes `https://lab.example`, `https://lab.example/cast/`, `https://[2001:db8::1]:8443/cast`.
  public init(parsing text: String) throws(PublicAddressError) {
    guard !text.contains("#"), !text.contains("?") else { throw .hasParameters }
    if let scheme = text.firstRange(of: "://"), text[scheme.upperBound...].prefix(while: { $0 != "/" }).contains("@") {
      throw .hasCredentials
    }
    guard let web = WebAddress(text), BasePath(web.target) != nil || web.target == "/" else { throw .malformed(text) }
    self.web = web.target.hasSuffix("/") ? web : WebAddress(web.description + "/") ?? web
  }

  /// The path before the server's own; nil: none.
  public var basePath: BasePath? { BasePath(web.target) }

  /// The link for viewers, with a token in the fragment.
  public func link(token: AccessToken?) -> String { description + (token.map { "#token=" + $0.inURL } ?? "") }

  /// Host and port, as in a `Host` header.
  package var authority: String { web.host.inURL + (web.port.map { ":\($0)" } ?? "") }

  /// The address as a URL.
  public var description: String { web.description }
}

/// The reason why a text is not a public address: the caller's fault.
public enum PublicAddressError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The text is no http or https URL with a host.
  case malformed(String)
  /// A user name or a password stands in front of the host.
  case hasCredentials
  /// A query or a fragment follows the path.
  case hasParameters

  /// A sentence for the user.
  public var description: String {
    switch self {
    case .malformed(let text): "\"\(text)\" is not the address of a web page; write it as https://lab.example/cast/."
    case .hasCredentials:
      "The address contains a user name or password, which everybody who gets the link would see. Leave it out."
    case .hasParameters: "The address ends with its path; leave out everything after ? and #."
    }
  }
}
