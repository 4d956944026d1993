/// The content of the picture, which decides what to preserve when bandwidth is short (W3C mst-content-hint).
public enum ContentHint: String, Hashable, Sendable, CaseIterable {
  /// Keep the frame rate; lose sharpness first.
  case motion
  /// Keep resolution and sharpness; drop frames first. The default of screencasts.
  case detail
  /// As `detail`, with more weight on the edges of letters.
  case text
}
