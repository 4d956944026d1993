/// The colour space of a frame's samples: the matrix that they were made with, and the range of values (ITU-T H.273
/// §8.3).
public struct ColorSpace: Hashable, Sendable {
  /// How luma and chroma were made.
  public enum Matrix: UInt8, Hashable, Sendable, CaseIterable {
    /// No matrix: red, green and blue themselves.
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
  /// The range of values: those of black and white.
  public var range: Range

  /// Any matrix with any range.
  public init(matrix: Matrix, range: Range) {
    self.matrix = matrix
    self.range = range
  }

  /// The colour space that browsers assume of VP8 at any size.
  public static let bt601Limited = ColorSpace(matrix: .bt601, range: .limited)
  /// The colour space of JPEG (JFIF).
  public static let bt601Full = ColorSpace(matrix: .bt601, range: .full)
  /// The colour space of high-definition video (ITU-R BT.709), limited range.
  public static let bt709Limited = ColorSpace(matrix: .bt709, range: .limited)
  /// The colour space of a canvas in Chromium.
  public static let bt709Full = ColorSpace(matrix: .bt709, range: .full)
  /// Red, green and blue as on the screen. Planes marked with it are treated as those of JPEG.
  public static let sRGB = ColorSpace(matrix: .rgb, range: .full)
}
