extension String {
  /// Somebody else's text, without what would drive the terminal.
  var printable: String {
    String(String.UnicodeScalarView(unicodeScalars.filter { $0.properties.generalCategory != .control }))
  }
}
