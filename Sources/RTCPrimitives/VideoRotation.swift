/// Clockwise turn to be applied by the viewer, in degrees.
public enum VideoRotation: Int, Hashable, Sendable, BitwiseCopyable {
  case none = 0
  case clockwise90 = 90
  case half = 180
  case clockwise270 = 270
}
