/// The page for calls between browsers and rtcast, which a hub serves at `/`: in one piece, part of the binary.
///
/// It is kept as HTML that refers to its style and scripts by lines of their own, so that a browser can open the folder
/// as it is; here each of those lines becomes what it refers to.
package enum HubPage {
  /// The page as UTF-8, with style and scripts inside.
  package static let html: [UInt8] = assemble()

  private static var parts: [(reference: String, opening: String, content: [UInt8], closing: String)] {
    let scripts = [
      ("line.js", PackageResources.line_js), ("media.js", PackageResources.media_js),
      ("call.js", PackageResources.call_js), ("board.js", PackageResources.board_js),
      ("tiles.js", PackageResources.tiles_js), ("sounds.js", PackageResources.sounds_js),
      ("page.js", PackageResources.page_js),
    ]
    return [("<link rel=\"stylesheet\" href=\"hub.css\">", "<style>\n", PackageResources.hub_css, "</style>")]
      + scripts.map { ("<script src=\"\($0.0)\"></script>", "<script>\n", $0.1, "</script>") }
  }

  private static func assemble() -> [UInt8] {
    let parts = parts
    var page: [UInt8] = []
    for line in PackageResources.hub_html.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
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
