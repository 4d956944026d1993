/// The page that `GET /` serves: a WHEP client in one file, part of the binary.
public enum ViewerPage {
  public static let html: [UInt8] = PackageResources.viewer_html
}
