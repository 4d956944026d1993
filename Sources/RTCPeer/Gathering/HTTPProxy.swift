import RTCPrimitives

/// The proxy through which connections out of this network must go (HTTP CONNECT, RFC 9110 §9.3.6), as the environment has it.
package struct HTTPProxy: Hashable, Sendable {
  /// A name or an address.
  package var host: String
  /// 1080 unless the environment says otherwise.
  package var port: UInt16
  /// `user:password`, if the proxy wants any.
  package var credentials: String?

  /// The environment variables that configure the proxy.
  static let variables = ["https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"]

  /// The proxy for connections to `host`; nil: none. `https_proxy` and `no_proxy`, in lower or upper case, have the
  /// meaning that curl gives them. Loopback addresses need no proxy.
  package init?(for host: String, environment: [String: String]) {
    guard let text = environment["https_proxy"] ?? environment["HTTPS_PROXY"], !text.isEmpty,
      !Self.isExempt(host, from: environment["no_proxy"] ?? environment["NO_PROXY"] ?? "")
    else { return nil }
    self.init(text)
  }

  /// Parses `[http://][user:password@]host[:port]`; nil for other texts, such as a proxy that is reached by TLS.
  package init?(_ text: String) {
    var rest = Substring(text)
    if let scheme = rest.firstRange(of: "://") {
      guard rest[..<scheme.lowerBound].lowercased() == "http" else { return nil }
      rest = rest[scheme.upperBound...]
    }
    rest = rest.prefix { $0 != "/" }
    if let at = rest.lastIndex(of: "@") {
      credentials = Self.decodePercent(rest[..<at])
      rest = rest[rest.index(after: at)...]
    }
    // Any scheme does: host and port are read alike.
    guard let url = try? ICEServerURL(parsing: "stun:\(rest)") else { return nil }
    host = url.host
    port = rest.hasSuffix(":\(url.port)") ? url.port : 1_080
  }

  /// A name, with or without a leading dot, exempts its subdomains too; `*` exempts all.
  private static func isExempt(_ host: String, from list: String) -> Bool {
    let host = host.lowercased()
    if host == "localhost" || IPAddress(host)?.isLoopback == true { return true }
    return list.lowercased().split { $0 == "," || $0 == " " }.contains { entry in
      let name = entry.drop { $0 == "." }
      return entry == "*" || host == name || (!name.isEmpty && host.hasSuffix(".\(name)"))
    }
  }

  private static func decodePercent(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let first = rest.popFirst() {
      if first == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(first)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
