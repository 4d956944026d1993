/// The page that shows all streams of a hub, at `/wall`: in one piece, part of the binary.
package enum WallPage {
  /// The page as UTF-8, with style and scripts inside.
  package static let html: [UInt8] = InlinedPage(
    styles: [("wall.css", PackageResources.wall_css)], scripts: [("wall.js", PackageResources.wall_js)]
  ).assemble(PackageResources.wall_html)
}
