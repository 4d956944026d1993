/// Why a frame was not converted.
public enum ConversionError: Error, Hashable, Sendable {
  /// libyuv refused its arguments.
  case library(status: Int)
}
