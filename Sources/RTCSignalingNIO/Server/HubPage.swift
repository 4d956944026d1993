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
