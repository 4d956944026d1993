/// How a frame's samples lie in memory.
public enum PixelFormat: String, Hashable, Sendable, CaseIterable {
  /// Three planes Y, U, V; chroma halved both ways (odd sizes rounded up); 8 bits.
  case i420
  /// Three planes Y, U, V at full size; 8 bits.
  case i444
  /// Two planes: Y, and U and V interleaved at half size; 8 bits.
  case nv12
  /// One plane, four bytes a pixel in memory order B, G, R, X; the fourth is ignored.
  case bgra
  /// One plane, four bytes a pixel in memory order R, G, B, X; the fourth is ignored.
  case rgba

  /// The number of planes.
  public var planeCount: Int {
    switch self {
    case .i420, .i444: 3
    case .nv12: 2
    case .bgra, .rgba: 1
    }
  }

  /// The width in bytes and the height in rows of plane `index` of a picture of `size`.
  public func planeExtent(_ index: Int, of size: PixelSize) -> (rowBytes: Int, rows: Int) {
    let halfWidth = (size.width + 1) / 2
    let halfHeight = (size.height + 1) / 2
    return switch (self, index) {
    case (.i420, 1...): (halfWidth, halfHeight)
    case (.nv12, 1...): (halfWidth * 2, halfHeight)
    case (.i420, _), (.nv12, _), (.i444, _): (size.width, size.height)
    case (.bgra, _), (.rgba, _): (size.width * 4, size.height)
    }
  }
}

/// A format a capturer can deliver.
public struct VideoFormat: Hashable, Sendable {
  /// In pixels.
  public var size: PixelSize
  /// Frames a second, lowest to highest; never empty, never below 0.
  public var frameRates: ClosedRange<Double>
  /// How pixels lie in memory.
  public var pixelFormat: PixelFormat

  /// - Parameter frameRates: pictures a second.
  public init(size: PixelSize, frameRates: ClosedRange<Double>, pixelFormat: PixelFormat) {
    self.size = size
    self.frameRates = frameRates
    self.pixelFormat = pixelFormat
  }
}
