/// An http or https URL (RFC 3986), as far as a client needs it: parse, resolve a reference, compare origins.
public struct WebAddress: Hashable, Sendable, CustomStringConvertible {
  /// The scheme of a URL.
  public enum Scheme: String, Sendable {
    /// Plain, and by TLS.
    case http, https
  }

  /// The scheme.
  public let scheme: Scheme
  /// A name or a literal address.
  public let host: HostName
  /// The port as written, nil for the scheme's own.
  public let port: UInt16?
  /// Path and query; begins with a slash, has no fragment.
  public let target: String

  /// Nil for other schemes, for user names in front of the host, for blanks and control characters, and without a host.
  public init?(_ text: String) {
    guard text.utf8.count <= 8192, text.utf8.allSatisfy({ $0 > 32 && $0 != 127 && $0 != 92 }),
      let colon = text.firstIndex(of: ":"), let scheme = Scheme(rawValue: text[..<colon].lowercased())
    else { return nil }
    let rest = text[text.index(after: colon)...]
    guard rest.hasPrefix("//") else { return nil }
    let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    self.init(scheme: scheme, authority: authority, reference: rest.dropFirst(2 + authority.count))
  }

  private init?(scheme: Scheme, authority: Substring, reference: Substring) {
    guard !authority.contains("@"), let (host, digits) = HostName.split(authority: authority) else { return nil }
    if let digits, !digits.isEmpty {
      guard let number = UInt16(digits), number > 0 else { return nil }
      port = number == (scheme == .https ? 443 : 80) ? nil : number
    } else {
      port = nil
    }
    self.scheme = scheme
    self.host = host
    let (path, query) = Self.cut(reference)
    target = Self.withoutDots(path.hasPrefix("/") ? path : "/" + path) + query
  }

  private init(_ base: WebAddress, target: String) {
    (scheme, host, port) = (base.scheme, base.host, base.port)
    self.target = target
  }

  /// Resolves a reference (RFC 3986 §5.2): a whole URL, `//host/path`, `/path`, `path` or `?query`. Nil if this type
  /// cannot represent the result.
  public func resolving(_ reference: String) -> WebAddress? {
    let text = reference.trimmingBlanks()
    guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 32 && $0 != 127 && $0 != 92 }) else { return nil }
    if let colon = text.firstIndex(of: ":"), !text[..<colon].contains(where: { "/?#".contains($0) }) {
      return WebAddress(String(text))
    }
    if text.hasPrefix("//") { return WebAddress("\(scheme.rawValue):\(text)") }
    let (path, query) = Self.cut(text)
    let (ownPath, ownQuery) = Self.cut(target[...])
    if path.isEmpty { return WebAddress(self, target: ownPath + (query.isEmpty ? ownQuery : query)) }
    if path.hasPrefix("/") { return WebAddress(self, target: Self.withoutDots(path) + query) }
    let folder = ownPath[...(ownPath.lastIndex(of: "/") ?? ownPath.startIndex)]
    return WebAddress(self, target: Self.withoutDots(folder + path) + query)
  }

  /// Scheme, host and port are the same (RFC 6454 §4).
  public func hasSameOrigin(as other: WebAddress) -> Bool {
    scheme == other.scheme && host == other.host && port == other.port
  }

  /// The address as a URL.
  public var description: String {
    "\(scheme.rawValue)://\(host.inURL)\(port.map { ":\($0)" } ?? "")\(target)"
  }

  /// Path, and query with its question mark; the fragment is dropped.
  private static func cut(_ text: Substring) -> (path: String, query: String) {
    let bare = text.prefix { $0 != "#" }
    let path = bare.prefix { $0 != "?" }
    return (String(path), String(bare.dropFirst(path.count)))
  }

  /// RFC 3986 §5.2.4 for a path that begins with a slash.
  private static func withoutDots(_ path: String) -> String {
    var kept: [Substring] = []
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    for (index, part) in zip(parts.indices, parts) {
      let isLast = index == parts.endIndex - 1
      switch part {
      case ".": if isLast { kept.append("") }
      case "..":
        _ = kept.popLast()
        if isLast { kept.append("") }
      default: kept.append(part)
      }
    }
    return "/" + kept.joined(separator: "/")
  }
}
