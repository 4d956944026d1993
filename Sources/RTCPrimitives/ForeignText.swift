/// Text that comes from elsewhere, before it reaches a terminal, a log, a window's title or a page.
extension StringProtocol {
  /// The text without characters that drive a terminal or turn other text around: categories Cc (controls, the C1 ones
  /// included), Cf (format, such as bidirectional overrides) but for the joiners of scripts and emoji, Zl and Zp (line and
  /// paragraph separators). A line break or tab becomes a space, or is kept.
  /// - Parameters:
  ///   - limit: the most characters; a longer text ends with "…".
  ///   - keepsLines: whether line breaks and tabs stay as they are.
  package func foreignText(limit: Int = ForeignText.longest, keepsLines: Bool = false) -> String {
    var result = String.UnicodeScalarView()
    var count = 0
    for scalar in unicodeScalars {
      let isBreak = scalar == "\n" || scalar == "\t"
      guard isBreak || ForeignText.isShown(scalar) else { continue }
      guard count < limit else {
        result.append("…")
        break
      }
      result.append(isBreak && !keepsLines ? " " : scalar)
      count += 1
    }
    return String(result)
  }
}

/// Makes foreign text safe to show.
package enum ForeignText {
  /// Characters of one text.
  package static let longest = 200

  /// Whether a character may reach a terminal.
  package static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    if (0x20...0x7E).contains(scalar.value) { return true }
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return false
    case .format: return scalar.value == 0x200C || scalar.value == 0x200D
    default: return true
    }
  }
}
