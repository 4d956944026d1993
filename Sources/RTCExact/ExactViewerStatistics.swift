/// How much of the picture one viewer has exactly, and why not more.
package struct ExactViewerStatistics: Hashable, Sendable {
  /// The page can be seen, and so is sent anything.
  package var isVisible = false
  /// The share of the picture, 0…1, that is exact or on its way.
  package var share = 0.0
  /// The share of the picture, 0…1, that is missing and left to the video because it would take too many bytes.
  package var videoShare = 0.0
  /// Rectangles that it was sent.
  package var rectangles: UInt64 = 0
  /// Bytes of these, headers included.
  package var bytes: UInt64 = 0
  /// Bytes of these that are not acknowledged yet.
  package var unacknowledgedBytes = 0

  package init() {}
}
