/// Why a picture could not be encoded.
package enum WebPError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The rectangle is empty, outside of the picture or larger than WebP takes (16,383 pixels), or the pixels are not BGRA.
  case unusablePicture
  /// An error of libwebp (`WebPEncodingError`); 1 and 2 mean out of memory.
  case library(Int)

  package var description: String {
    switch self {
    case .unusablePicture: "the rectangle is not in the picture, or the picture is not BGRA"
    case .library(let code): "libwebp refused to encode (error \(code))"
    }
  }
}
