/// The page that `GET /` serves: a WHEP client in one piece, part of the binary.
package enum ViewerPage {
  /// The page as UTF-8, with style and scripts inside.
  package static let html: [UInt8] = InlinedPage(scripts: [
    ("viewer/exact.js", PackageResources.exact_js), ("viewer/cursor.js", PackageResources.cursor_js),
    ("viewer/source.js", PackageResources.source_js),
  ]).assemble(PackageResources.viewer_html)
}
