// For `_nfc`: the standard library normalizes strings to compare them, and has no other name for it yet.
@_spi(_Unicode) import Swift

/// Names of peers and rooms.
package enum HubName {
  /// The most characters, as people count them.
  static let longest = 64
  /// The most bytes of UTF-8: a character may consist of any number of code points.
  static let mostBytes = HubMessageReader.longestWord

  /// The name of a peer in its one spelling (NFC), so that all clients compare it alike.
  ///
  /// Throws `badName` for a name that would confuse logs, addresses or people.
  static func peer(_ name: String) throws(HubFault) -> String {
    if let problem = problem(name) { throw .badName(problem) }
    if let sign = name.unicodeScalars.first(where: { "/?#\\".unicodeScalars.contains($0) }) {
      throw .badName("it contains \(sign), which addresses need")
    }
    return canonical(name)
  }

  /// The name of a room in its one spelling (NFC). A room is named in no path, so it may have any sign that can be seen.
  static func room(_ name: String) throws(HubFault) -> String {
    if let problem = problem(name) { throw .badRoom(name, problem) }
    return canonical(name)
  }

  /// Whether the hub accepts a name's length; for clients that choose one.
  package static func fits(_ name: String) -> Bool {
    !name.isEmpty && name.count <= longest && name.utf8.count <= mostBytes
  }

  /// The problem of a name, in half a sentence; nil: none.
  private static func problem(_ name: String) -> String? {
    if name.isEmpty { return "it is empty" }
    if name.count > longest { return "it is longer than \(longest) characters" }
    if name.utf8.count > mostBytes { return "it is longer than \(mostBytes) bytes" }
    let scalars = Array(name.unicodeScalars)
    for (index, scalar) in scalars.enumerated() where isHidden(scalar) {
      if !isPartOfCharacter(at: index, of: scalars) { return "it contains a character that cannot be seen" }
    }
    if name.first?.isWhitespace == true || name.last?.isWhitespace == true { return "it begins or ends with a blank" }
    return nil
  }

  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .unassigned, .privateUse, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  // MARK: - Joiners

  /// Whether a scalar that shows nothing by itself changes how its neighbours are written, as orthographies and emoji need
  /// it (RFC 5892 A.1 and A.2, UTS 51 §2). Anywhere else it would make two names that look alike.
  private static func isPartOfCharacter(at index: Int, of scalars: [Unicode.Scalar]) -> Bool {
    guard index > 0 else { return false }
    let before = scalars[index - 1]
    let after = index + 1 < scalars.count ? scalars[index + 1] : nil
    switch scalars[index].value {
    case 0x200C:
      return isVirama(before) ? after != nil : isCursive(before) && after.map(isCursive) == true
    case 0x200D:
      if isVirama(before) { return true }
      guard let after else { return false }
      return (isCursive(before) && isCursive(after)) || (isEmojiPart(before) && isEmoji(after))
    case 0xE0020...0xE007F:  // flags of regions: a black flag and letters that are tags
      return before.value == 0x1F3F4 || 0xE0020...0xE007E ~= before.value
    default: return false
    }
  }

  private static func isVirama(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.canonicalCombiningClass == .virama
  }

  /// Letters and marks of the scripts whose letters join: Arabic, Syriac, Thaana, N'Ko, Mandaic, Mongolian and Phags-pa.
  private static func isCursive(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0620...0x065F, 0x066E...0x06D3, 0x06D5...0x06DC, 0x06FA...0x06FF, 0x0710...0x077F, 0x0780...0x07B1,
      0x07CA...0x07FA, 0x0840...0x08FF, 0x1820...0x18AA, 0xA840...0xA873:
      true
    default: false
    }
  }

  private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value > 0xFF && scalar.properties.isEmoji
  }

  /// An emoji, its skin colour, or the mark that shows it as one.
  private static func isEmojiPart(_ scalar: Unicode.Scalar) -> Bool {
    isEmoji(scalar) || scalar.properties.isEmojiModifier || scalar.value == 0xFE0F
  }

  private static func canonical(_ name: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in name._nfc { scalars.append(scalar) }
    return String(scalars)
  }
}
