/// Clockwise turn to be applied by the viewer, in degrees.
public enum VideoRotation: Int, Hashable, Sendable, BitwiseCopyable {
  /// No rotation.
  case none = 0
  /// A quarter to the right.
  case clockwise90 = 90
  /// Upside down.
  case half = 180
  /// A quarter to the left.
  case clockwise270 = 270
}
