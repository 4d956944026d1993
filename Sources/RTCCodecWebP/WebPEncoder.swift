import CWebP
package import RTCMedia
package import RTCPrimitives

/// Encodes rectangles of pictures as WebP. The only owner of libwebp. Used by one thread at a time.
package struct WebPEncoder: Sendable {
  /// The largest side that the format knows.
  private static let maximumSide = 16_383

  package init() {}

  /// The pixels of `rect`, the fourth byte of each ignored, as a whole WebP file.
  /// - Parameter picture: in BGRA; leased for as long as this takes.
  package func encode(
    _ picture: PixelBuffer, _ rect: PixelRect, _ effort: WebPEffort
  ) throws(WebPError) -> [UInt8] {
    let whole = PixelRect(picture.size)
    guard picture.format == .bgra, !rect.isEmpty, rect == rect.intersection(whole), rect.width <= Self.maximumSide,
      rect.height <= Self.maximumSide
    else { throw .unusablePicture }
    var config = WebPConfig()
    guard unsafe WebPConfigInit(&config) != 0 else { throw .library(0) }
    Self.set(effort, &config)
    var input = unsafe WebPPicture()
    guard unsafe WebPPictureInit(&input) != 0 else { throw .library(0) }
    unsafe input.use_argb = effort == .lossy ? 0 : 1
    unsafe input.width = Int32(rect.width)
    unsafe input.height = Int32(rect.height)
    // The rectangle lies in the picture, by the guard above, and the plane lives as long as `picture`, which the caller holds.
    let plane = unsafe picture.unsafePlane(0)
    let first = unsafe plane.base.advanced(by: rect.y * plane.stride + rect.x * 4).assumingMemoryBound(to: UInt8.self)
    defer { unsafe WebPPictureFree(&input) }
    guard unsafe WebPPictureImportBGRX(&input, first, Int32(plane.stride)) != 0 else {
      throw unsafe .library(Int(input.error_code.rawValue))
    }
    return try unsafe Self.encode(&config, &input)
  }

  private static func encode(
    _ config: inout WebPConfig, _ input: inout WebPPicture
  ) throws(WebPError) -> [UInt8] {
    var writer = unsafe WebPMemoryWriter()
    unsafe WebPMemoryWriterInit(&writer)
    defer { unsafe WebPMemoryWriterClear(&writer) }
    unsafe input.writer = WebPMemoryWrite
    // The writer outlives the call, and nothing else keeps the pointer.
    let isDone = unsafe withUnsafeMutablePointer(to: &writer) { pointer in
      unsafe input.custom_ptr = UnsafeMutableRawPointer(pointer)
      defer { unsafe input.custom_ptr = nil }
      return unsafe WebPEncode(&config, &input) != 0
    }
    guard isDone, let bytes = unsafe writer.mem else { throw unsafe .library(Int(input.error_code.rawValue)) }
    return unsafe Array(UnsafeBufferPointer(start: bytes, count: writer.size))
  }

  private static func set(_ effort: WebPEffort, _ config: inout WebPConfig) {
    switch effort {
    case .fast: (config.lossless, config.method, config.quality) = (1, 0, 30)
    case .better: (config.lossless, config.method, config.quality) = (1, 1, 30)
    case .lossy: (config.lossless, config.method, config.quality) = (0, 1, 80)
    }
    // Without it libwebp looks for transparent pixels, to change their colours.
    config.exact = 1
  }
}

/// How much time an encode may take for how few bytes. Every effort but `lossy` keeps every pixel.
///
/// A dense page of coloured text at 1080p, on one core of a 2-core cloud machine, whole and in rectangles:
///
/// | effort | whole | 1920 × 128 | 512 × 128 |
/// |---|---|---|---|
/// | fast | 338 kB, 80 ms | 406 kB, 54 ms | 658 kB, 150 ms |
/// | better | 226 kB, 205 ms | 246 kB, 173 ms | 351 kB, 215 ms |
///
/// Methods above 1 take longer and are no smaller.
///
/// libwebp's own preset for speed (method 0, quality 0) makes half as many bytes again and is no faster: from quality 25 on it
/// keeps a cache of colours, which is what text and icons are made of.
package enum WebPEffort: Hashable, Sendable, CaseIterable {
  /// For what is to be seen at once: method 0, quality 30.
  case fast
  /// For what goes over a network: method 1, quality 30.
  case better
  /// Not exact (quality 80), for photographs.
  case lossy
}

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
