/// The address of a hub: `ws://` or `wss://`, a host, and a path. A path that ends in a slash is that of the hub's page, and
/// `hub` is added to it.
public struct HubAddress: Sendable, Hashable, CustomStringConvertible {
  /// With `http` for `ws`, `https` for `wss`.
  public let web: WebAddress

  /// The hub of the server at `web`.
  public init(_ web: WebAddress) {
    let isPage = web.target.hasSuffix("/") && !web.target.hasSuffix("/hub/")
    self.web = isPage ? web.resolving("hub") ?? web : web
  }

  /// Takes `ws:`, `wss:`, `http:` and `https:`. Nil for what `WebAddress` does not take.
  public init?(_ text: String) {
    guard let web = WebAddress(Self.webText(text)) else { return nil }
    self.init(web)
  }

  /// Parses the address of a peer and its hub: `wss://host/NAME`, or, for a hub with a path of its own,
  /// `wss://host/some/hub/NAME`.
  public static func target(_ text: String) -> (hub: HubAddress, peer: String)? {
    guard text.hasPrefix("ws:") || text.hasPrefix("wss:"), let web = WebAddress(webText(text)) else { return nil }
    let path = web.target.prefix { $0 != "?" }
    let query = web.target.dropFirst(path.count)
    guard let slash = path.lastIndex(of: "/"),
      let peer = PercentEncoding.decode(path[path.index(after: slash)...]), !peer.isEmpty,
      let folder = web.resolving((slash == path.startIndex ? "/" : String(path[..<slash])) + query)
    else { return nil }
    return (HubAddress(folder), peer)
  }

  /// True for `wss:`.
  public var isSecure: Bool { web.scheme == .https }
  /// The port, 443 or 80 where none is written.
  public var port: UInt16 { web.port ?? (isSecure ? 443 : 80) }

  /// The address as a URL.
  public var description: String { "ws" + web.description.dropFirst(4) }

  private static func webText(_ text: String) -> String {
    let scheme = text.prefix { $0 != ":" }.lowercased()
    guard scheme == "ws" || scheme == "wss" else { return text }
    return "http" + scheme.dropFirst(2) + text.dropFirst(scheme.count)
  }
}
