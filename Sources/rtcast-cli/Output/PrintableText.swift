import RTCPrimitives

extension String {
  /// The foreign text without control characters, and no longer than a message.
  var printable: String { foreignText() }
}
