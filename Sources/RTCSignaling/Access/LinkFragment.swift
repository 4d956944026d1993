/// The fragment of a link, after the `#`. Browsers do not send it to servers.
public struct LinkFragment: Sendable, Hashable {
  /// The secret, or a token signed with it.
  public var token: String?

  /// Reads `token=…&…`, or a bare token.
  public init(_ text: some StringProtocol) {
    let pairs = text.split(separator: "&")
    if let pair = pairs.first(where: { $0.hasPrefix("token=") }) {
      token = PercentEncoding.decode(pair.dropFirst(6))
    } else if !text.isEmpty, !text.contains("=") {
      token = PercentEncoding.decode(text)
    }
  }

  /// A name as it stands in an address.
  public static func encoded(_ name: String) -> String { PercentEncoding.encode(name) }

  /// A link without its fragment, and what stood there.
  public static func split(_ link: String) -> (address: String, fragment: LinkFragment) {
    guard let mark = link.firstIndex(of: "#") else { return (link, LinkFragment("")) }
    return (String(link[..<mark]), LinkFragment(link[link.index(after: mark)...]))
  }
}
