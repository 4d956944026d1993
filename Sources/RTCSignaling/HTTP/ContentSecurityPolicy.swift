import RTCPrimitives

/// The policy of a page (W3C CSP Level 3): it may run its own scripts and styles, by their hashes; connect to its own
/// origin; not create HTML or code from text (Trusted Types); and be framed only by the named sites.
package struct ContentSecurityPolicy: Sendable, Equatable {
  private let scripts: [String]
  private let styles: [String]
  private let ancestors: [String]

  /// - Parameters:
  ///   - html: the page; its `<script>` and `<style>` elements stand at the beginnings of lines, without attributes.
  ///   - ancestors: sites, as `https://host`, whose pages may show it in a frame; `*` for all.
  ///   - sha256: the hash of bytes.
  package init(
    for html: [UInt8], ancestors: [String] = [], sha256: (ArraySlice<UInt8>) -> [UInt8]
  ) {
    func hashes(_ element: String) -> [String] {
      Self.contents(of: element, in: html).map { "'sha256-\(Base64URL.padded(sha256($0)))'" }
    }
    scripts = hashes("script")
    styles = hashes("style")
    self.ancestors = ancestors
  }

  /// The header's value.
  /// - Parameter hosts: hosts and ports that the client may know the server as. Not every browser takes WebSocket to the page's
  ///   own origin for that origin, so they are named.
  package func text(hosts: [String]) -> String {
    var own = "'self'"
    for host in hosts {
      guard let (name, port) = HostName.split(authority: host),
        port?.utf8.allSatisfy({ (48...57).contains($0) }) != false,
        name.isAddress || name.text.utf8.allSatisfy(Self.isNameByte)
      else { continue }
      let authority = name.inURL + (port.map { ":\($0)" } ?? "")
      own += " ws://\(authority) wss://\(authority)"
    }
    let frames = ancestors.isEmpty ? "'none'" : ancestors.joined(separator: " ")
    return [
      "default-src 'none'", "script-src \(Self.list(scripts))", "style-src \(Self.list(styles))", "connect-src \(own)",
      "img-src data: blob:", "media-src blob: mediastream:", "base-uri 'none'", "form-action 'none'",
      "frame-ancestors \(frames)", "require-trusted-types-for 'script'", "trusted-types 'none'",
    ].joined(separator: "; ")
  }

  private static func list(_ sources: [String]) -> String {
    sources.isEmpty ? "'none'" : sources.joined(separator: " ")
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    Base64URL.isLetter(byte) || byte == UInt8(ascii: ".")
  }

  private static func contents(of element: String, in html: [UInt8]) -> [ArraySlice<UInt8>] {
    let (opening, closing) = (Array("\n<\(element)>".utf8), Array("</\(element)>".utf8))
    var found: [ArraySlice<UInt8>] = []
    var rest = html[...]
    while let begin = rest.firstRange(of: opening), let end = rest[begin.upperBound...].firstRange(of: closing) {
      found.append(rest[begin.upperBound..<end.lowerBound])
      rest = rest[end.upperBound...]
    }
    return found
  }
}
