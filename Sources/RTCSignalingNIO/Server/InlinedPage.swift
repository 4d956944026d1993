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
