/// The relevant headers of a browser's request for a page.
package struct PageRequest: Sendable, Equatable {
  /// The server's names: that in the `Host` header, and those by which proxies know it.
  package var hosts: [String]
  /// Whether the browser accepts gzip (RFC 9110 §12.5.3).
  package var acceptsGzip: Bool
  /// The entity tags that the browser has, without quotes and `W/` (RFC 9110 §13.1.2).
  package var knownTags: [String]

  package init(hosts: [String], acceptsGzip: Bool = false, knownTags: [String] = []) {
    self.hosts = hosts
    self.acceptsGzip = acceptsGzip
    self.knownTags = knownTags
  }
}

extension RequestHead {
  /// The maximum number of members of a header field that are read; browsers send fewer.
  private static let mostMembers = 16

  /// - Parameter known: the server's public name.
  func pageRequest(knownAs known: String?) -> PageRequest {
    var hosts: [String] = []
    for host in [known, statedHost, authority].compactMap(\.self) where !hosts.contains(host) { hosts.append(host) }
    return PageRequest(hosts: hosts, acceptsGzip: accepts(coding: "gzip"), knownTags: knownTags)
  }

  var knownTags: [String] {
    (ifNoneMatch ?? "").split(separator: ",", maxSplits: Self.mostMembers).map { Self.opaqueTag($0) }
  }

  /// Whether `Accept-Encoding` lists a coding, or `*`, with a weight above zero.
  private func accepts(coding: String) -> Bool {
    var acceptsRest = false
    for member in (acceptEncoding ?? "").split(separator: ",", maxSplits: Self.mostMembers) {
      let parts = member.split(separator: ";").map { $0.trimmingBlanks().lowercased() }
      let isWanted = !parts.dropFirst().contains { $0.hasPrefix("q=") && (Double($0.dropFirst(2)) ?? 1) <= 0 }
      if parts.first == coding { return isWanted }
      if parts.first == "*" { acceptsRest = isWanted }
    }
    return acceptsRest
  }
}
