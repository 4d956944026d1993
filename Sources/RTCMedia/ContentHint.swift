/// What the picture is for, and so what gives way first when bits are short (W3C mst-content-hint).
public enum ContentHint: String, Hashable, Sendable, CaseIterable {
  /// Keep the frame rate; sharpness goes first.
  case motion
  /// Keep resolution and sharpness; frames go first. The default of screencasts.
  case detail
  /// As `detail`, with more weight on the edges of letters.
  case text
}
