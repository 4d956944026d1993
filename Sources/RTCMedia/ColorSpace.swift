/// What a frame's samples mean: how they were made of red, green and blue, and which values stand for black and white
/// (ITU-T H.273 §8.3).
public struct ColorSpace: Hashable, Sendable {
  /// How luma and chroma were made.
  public enum Matrix: UInt8, Hashable, Sendable, CaseIterable {
    /// They were not: red, green and blue themselves.
    case rgb
    case bt601
    case bt709
  }

  /// The values from black to white.
  public enum Range: UInt8, Hashable, Sendable, CaseIterable {
    /// 16…235, of chroma 16…240.
    case limited
    /// 0…255.
    case full
  }

  /// How luma and chroma were made.
  public var matrix: Matrix
  /// Which values stand for black and white.
  public var range: Range

  /// Any matrix with any range.
  public init(matrix: Matrix, range: Range) {
    self.matrix = matrix
    self.range = range
  }

  /// What browsers assume of VP8 at any size.
  public static let bt601Limited = ColorSpace(matrix: .bt601, range: .limited)
  /// What JPEG is (JFIF).
  public static let bt601Full = ColorSpace(matrix: .bt601, range: .full)
  /// What high-definition video is (ITU-R BT.709), limited range.
  public static let bt709Limited = ColorSpace(matrix: .bt709, range: .limited)
  /// What Chromium makes of a canvas.
  public static let bt709Full = ColorSpace(matrix: .bt709, range: .full)
  /// Red, green and blue as the screen shows them. Planes that are said to be this are taken for those of JPEG.
  public static let sRGB = ColorSpace(matrix: .rgb, range: .full)
}
