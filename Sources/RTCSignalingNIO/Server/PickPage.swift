/// The page on which the caster picks a source: in one piece, part of the binary.
package enum PickPage {
  /// The page as UTF-8, with style and scripts inside.
  package static let html: [UInt8] = InlinedPage(
    styles: [("pick.css", PackageResources.pick_css)], scripts: [("pick.js", PackageResources.pick_js)]
  ).assemble(PackageResources.pick_html)
}
