/// The matrix and range that a YUV frame was made with.
public enum ColorSpace: Hashable, Sendable {
  /// BT.601 matrix, limited range: what browsers assume of VP8 at any size.
  case bt601Limited
  /// BT.709 matrix, limited range.
  case bt709Limited
  /// BT.709 matrix, full range: what Chromium makes of a canvas.
  case bt709Full
  /// Red, green and blue as the screen shows them (sRGB, full range).
  case sRGB
}
