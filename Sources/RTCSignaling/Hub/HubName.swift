/// Names of peers and rooms.
enum HubName {
  /// Bytes of UTF-8.
  static let longest = 64

  /// Throws `badName` for a name that would confuse logs, addresses or people.
  static func check(_ name: String) throws(HubFault) {
    if name.isEmpty { throw .badName("it is empty") }
    if name.utf8.count > longest { throw .badName("it is longer than \(longest) bytes") }
    for scalar in name.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .surrogate, .unassigned, .privateUse, .lineSeparator, .paragraphSeparator:
        throw .badName("it contains a character that cannot be seen")
      default: break
      }
      if "/?#\\".unicodeScalars.contains(scalar) { throw .badName("it contains \(scalar), which addresses need") }
    }
    if name.first?.isWhitespace == true || name.last?.isWhitespace == true {
      throw .badName("it begins or ends with a blank")
    }
  }
}
