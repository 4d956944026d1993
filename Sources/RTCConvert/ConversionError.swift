/// Why a frame was not converted.
package enum ConversionError: Error, Hashable, Sendable {
  /// libyuv refused its arguments.
  case library(status: Int)
}
