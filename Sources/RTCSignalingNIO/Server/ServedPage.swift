import RTCDTLS
import RTCPrimitives
import RTCSignaling

/// A page with its security policy. Lives on the server's event loop.
final class ServedPage {
  private let plain: HTTPReply.Representation
  /// Made when it is first asked for: a cast that only publishes never serves a page.
  private lazy var compressed = Gzip.compress(plain.body).map {
    HTTPReply.Representation(body: $0, encoding: "gzip", tag: "\(digest)-gzip")
  }
  private let digest: String
  private let policy: ContentSecurityPolicy

  init(_ html: [UInt8], ancestors: [String]) {
    digest = Base64URL.encode(Array(MessageAuthentication.sha256(html).prefix(9)))
    plain = HTTPReply.Representation(body: html, encoding: nil, tag: digest)
    policy = ContentSecurityPolicy(for: html, ancestors: ancestors) { MessageAuthentication.sha256(Array($0)) }
  }

  func reply(to request: PageRequest) -> HTTPReply {
    .page(request.acceptsGzip ? compressed ?? plain : plain, policy, request)
  }
}

/// The page that `GET /` serves: a WHEP client in one piece, part of the binary.
package enum ViewerPage {
  /// The page as UTF-8, with style and scripts inside.
  package static let html: [UInt8] = InlinedPage(scripts: [
    ("viewer/exact.js", PackageResources.exact_js), ("viewer/cursor.js", PackageResources.cursor_js),
    ("viewer/source.js", PackageResources.source_js),
  ]).assemble(PackageResources.viewer_html)
}

/// The page that shows all streams of a hub, at `/wall`: in one piece, part of the binary.
package enum WallPage {
  /// The page as UTF-8, with style and scripts inside.
  package static let html: [UInt8] = InlinedPage(
    styles: [("wall.css", PackageResources.wall_css)], scripts: [("wall.js", PackageResources.wall_js)]
  ).assemble(PackageResources.wall_html)
}

/// The page for calls between browsers and rtcast, which a hub serves at `/`: in one piece, part of the binary.
package enum HubPage {
  /// The page as UTF-8, with style and scripts inside.
  package static let html: [UInt8] = InlinedPage(
    styles: [("hub.css", PackageResources.hub_css)],
    scripts: [
      ("line.js", PackageResources.line_js), ("media.js", PackageResources.media_js),
      ("call.js", PackageResources.call_js), ("board.js", PackageResources.board_js),
      ("tiles.js", PackageResources.tiles_js), ("sounds.js", PackageResources.sounds_js),
      ("page.js", PackageResources.page_js),
    ]
  ).assemble(PackageResources.hub_html)
}

/// The page on which the caster picks a source: in one piece, part of the binary.
package enum PickPage {
  /// The page as UTF-8, with style and scripts inside.
  package static let html: [UInt8] = InlinedPage(
    styles: [("pick.css", PackageResources.pick_css)], scripts: [("pick.js", PackageResources.pick_js)]
  ).assemble(PackageResources.pick_html)
}

/// A page of several files as one. Its source is HTML that refers to its styles and scripts by lines of their own, so
/// that a browser can open the folder directly; here each of those lines is replaced by the file.
struct InlinedPage {
  private var parts: [(reference: String, opening: String, content: [UInt8], closing: String)] = []

  /// - Parameters:
  ///   - styles: by their addresses in the page.
  ///   - scripts: by their addresses in the page.
  init(styles: [(String, [UInt8])] = [], scripts: [(String, [UInt8])]) {
    parts += styles.map { ("<link rel=\"stylesheet\" href=\"\($0.0)\">", "<style>\n", $0.1, "</style>") }
    parts += scripts.map { ("<script src=\"\($0.0)\"></script>", "<script>\n", $0.1, "</script>") }
  }

  /// The page as UTF-8, with styles and scripts inside.
  func assemble(_ html: [UInt8]) -> [UInt8] {
    var page: [UInt8] = []
    for line in html.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      if !page.isEmpty { page.append(UInt8(ascii: "\n")) }
      if let part = parts.first(where: { line.elementsEqual($0.reference.utf8) }) {
        page += Array(part.opening.utf8) + part.content + Array(part.closing.utf8)
      } else {
        page += line
      }
    }
    return page
  }
}
