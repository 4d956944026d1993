import CQREncode

/// A QR code drawn with half blocks, two modules a character, dark on light so that every reader takes it.
struct QRCode {
  private var modules: [[Bool]]

  /// Nil when the text is too long for a code that fits a terminal.
  init?(_ text: String) {
    guard text.utf8.count <= 300, let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_L) else { return nil }
    defer { QRcode_free(code) }
    let width = Int(code.pointee.width)
    let data = code.pointee.data!  // width × width bytes, bit 0 of each is the module
    modules = (0..<width).map { y in (0..<width).map { x in data[y * width + x] & 1 == 1 } }
  }

  /// Light modules around the code; the standard asks for four, two are enough for every reader tried.
  private let quiet = 2

  /// The width of the lines on a terminal.
  var columns: Int { modules.count + 2 * quiet }

  /// The lines to print, quiet zone included, in black on white by ANSI colours.
  var lines: [String] {
    let size = columns
    func isDark(_ x: Int, _ y: Int) -> Bool {
      let (column, row) = (x - quiet, y - quiet)
      return modules.indices.contains(row) && modules.indices.contains(column) && modules[row][column]
    }
    return stride(from: 0, to: size, by: 2).map { y in
      let cells = (0..<size).map { x in
        switch (isDark(x, y), isDark(x, y + 1)) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
      }
      return "\u{1B}[30;107m" + cells.joined() + "\u{1B}[0m"
    }
  }
}

extension Terminal {
  /// Prints the QR code of a link below an empty line, if the code and the lines below it fit into the terminal.
  /// - Returns: a sentence for the lines below, if the terminal is too small for the code.
  static func printCode(of link: String, above lines: [String]) -> String? {
    guard let code = QRCode(link) else { return nil }
    let size = size
    // Each line is indented by two; one that is longer than the terminal is wide takes several.
    let below = lines.reduce(0) { $0 + max(1, ($1.count + 1 + size.columns) / size.columns) }
    let (columns, rows) = (code.columns + 2, code.lines.count + 1 + below + 1)
    guard columns <= size.columns, rows <= size.rows else {
      return
        "This terminal is too small for the link's QR code: \(columns) columns and \(rows) rows are needed, and it has "
        + "\(size.columns) and \(size.rows)."
    }
    print("")
    print(code)
    return nil
  }
}
