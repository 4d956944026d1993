/// What one viewer of exact pixels has, and why not more.
package struct ExactViewerStatistics: Hashable, Sendable {
  /// The page can be seen, and so is sent anything.
  package var isVisible = false
  /// Of the picture, 0…1: what it has exactly, or has on its way.
  package var share = 0.0
  /// Of the picture, 0…1: what it lacks, and is left to the video since it would take too many bytes.
  package var videoShare = 0.0
  /// Rectangles that it was sent.
  package var rectangles: UInt64 = 0
  /// Of those, headers included.
  package var bytes: UInt64 = 0
  /// Of those, not acknowledged yet.
  package var unacknowledgedBytes = 0

  package init() {}
}
