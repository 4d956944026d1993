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
  public var size: PixelSize
  /// Frames a second, lowest to highest; never empty, never below 0.
  public var frameRates: ClosedRange<Double>
  public var pixelFormat: PixelFormat

  public init(size: PixelSize, frameRates: ClosedRange<Double>, pixelFormat: PixelFormat) {
    self.size = size
    self.frameRates = frameRates
    self.pixelFormat = pixelFormat
  }
}

/// What the picture is for, and so what gives way first when bits are short (W3C mst-content-hint).
public enum ContentHint: String, Hashable, Sendable, CaseIterable {
  /// Keep the frame rate; sharpness goes first.
  case motion
  /// Keep resolution and sharpness; frames go first. The default of screencasts.
  case detail
  /// As `detail`, with more weight on the edges of letters.
  case text
}

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
