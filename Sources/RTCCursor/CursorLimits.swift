/// The limits of a viewer's pointer messages and images; `cursor.js` of the viewer page has the same numbers.
package enum CursorLimits {
  /// Pixels on a side: a larger pointer is drawn into the picture.
  package static let side = 128
  /// Images that a viewer keeps; the one used longest ago goes first.
  package static let images = 32
}
