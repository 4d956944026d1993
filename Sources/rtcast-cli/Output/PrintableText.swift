import RTCPrimitives

extension String {
  /// Somebody else's text, without what would drive the terminal, and not longer than a message.
  var printable: String { foreignText() }
}
