import CX11

/// The properties and types by which windows tell their titles.
package struct WindowTitleAtoms {
  let netName: xcb_atom_t
  let utf8: xcb_atom_t
  let compoundText: xcb_atom_t

  init(_ connection: X11Connection) {
    self.init(
      netName: connection.atom("_NET_WM_NAME"), utf8: connection.atom("UTF8_STRING"),
      compoundText: connection.atom("COMPOUND_TEXT"))
  }

  /// The atoms that the server has given to these names.
  package init(netName: UInt32, utf8: UInt32, compoundText: UInt32) {
    self.netName = netName
    self.utf8 = utf8
    self.compoundText = compoundText
  }

  /// A property's value as text, by the type that the client gave it (ICCCM §2.7.1).
  ///
  /// Many clients put UTF-8 where the type promises Latin 1: what is valid UTF-8 is taken for it, since Latin 1 with
  /// accents is hardly ever valid UTF-8 by chance.
  /// - Parameter isCut: the value goes on behind the bytes.
  package func text(_ bytes: [UInt8], of type: UInt32, isCut: Bool) -> String {
    if type != 0, type == compoundText {
      var text = CompoundText()
      return text.decode(bytes)
    }
    let whole = isCut ? Self.withoutCutCharacter(bytes) : bytes[...]
    if let text = String(validating: whole, as: UTF8.self) { return text }
    return type == utf8 ? String(decoding: whole, as: UTF8.self) : LegacyText.latin1(bytes)
  }

  /// The bytes without a character that is cut at the end: only the first part of a long title is read.
  private static func withoutCutCharacter(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    guard let lead = bytes.lastIndex(where: { $0 & 0xC0 != 0x80 }), bytes[lead] >= 0xC0 else { return bytes[...] }
    let length = bytes[lead] >= 0xF0 ? 4 : bytes[lead] >= 0xE0 ? 3 : 2
    return lead + length > bytes.count ? bytes[..<lead] : bytes[...]
  }
}
