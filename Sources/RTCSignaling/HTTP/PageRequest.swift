/// What a browser says of a page that it asks for.
package struct PageRequest: Sendable, Equatable {
  /// What it knows the server as.
  package var host: String?
  /// It takes the page compressed (RFC 9110 §12.5.3).
  package var acceptsGzip: Bool
  /// Of what it has already the entity tags, without quotes and weakness (RFC 9110 §13.1.2).
  package var knownTags: [String]

  /// See the properties.
  package init(host: String?, acceptsGzip: Bool = false, knownTags: [String] = []) {
    self.host = host
    self.acceptsGzip = acceptsGzip
    self.knownTags = knownTags
  }
}

extension RequestHead {
  /// Of one header field so many members count; browsers send fewer.
  private static let mostMembers = 16

  var pageRequest: PageRequest {
    PageRequest(host: authority, acceptsGzip: accepts(coding: "gzip"), knownTags: knownTags)
  }

  private var knownTags: [String] {
    (ifNoneMatch ?? "").split(separator: ",", maxSplits: Self.mostMembers).map { Self.opaqueTag($0) }
  }

  /// Whether `Accept-Encoding` lists a coding, be it as `*`, and not with a weight of zero.
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
