/// The page that `GET /` serves: a WHEP client in one file, part of the binary.
package enum ViewerPage {
  /// The page as UTF-8, with style and scripts inside.
  package static let html: [UInt8] = PackageResources.viewer_html
}
