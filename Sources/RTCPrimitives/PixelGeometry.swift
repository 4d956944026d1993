/// Width and height in pixels.
public struct PixelSize: Hashable, Sendable, BitwiseCopyable, CustomStringConvertible {
  /// Pixels.
  public var width: Int
  /// Pixels.
  public var height: Int

  /// Width and height in pixels.
  @inlinable
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// `1920x1080`.
  public var description: String { "\(width)x\(height)" }
}

/// A rectangle of whole pixels; `x`, `y` is its top left corner, the picture's own being 0, 0.
public struct PixelRect: Hashable, Sendable, BitwiseCopyable {
  /// The left edge, in pixels from the picture's.
  public var x: Int
  /// The upper edge, in pixels from the picture's.
  public var y: Int
  /// Pixels.
  public var width: Int
  /// Pixels.
  public var height: Int

  /// The rectangle with this upper left corner and size, in pixels.
  @inlinable
  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// The whole of a picture of `size`.
  @inlinable
  public init(_ size: PixelSize) { self.init(x: 0, y: 0, width: size.width, height: size.height) }

  /// The first column to the right of it.
  @inlinable public var maxX: Int { x + width }
  /// The first row below it.
  @inlinable public var maxY: Int { y + height }
  /// True when it holds no pixel.
  @inlinable public var isEmpty: Bool { width <= 0 || height <= 0 }
  /// Number of pixels.
  @inlinable public var area: Int { isEmpty ? 0 : width * height }

  /// The part both have; empty (zero size) when they do not meet.
  public func intersection(_ other: PixelRect) -> PixelRect {
    let left = max(x, other.x)
    let top = max(y, other.y)
    return PixelRect(
      x: left, y: top, width: max(0, min(maxX, other.maxX) - left), height: max(0, min(maxY, other.maxY) - top))
  }

  /// The smallest rectangle that holds both; an empty one adds nothing.
  public func union(_ other: PixelRect) -> PixelRect {
    if isEmpty { return other }
    if other.isEmpty { return self }
    let left = min(x, other.x)
    let top = min(y, other.y)
    return PixelRect(x: left, y: top, width: max(maxX, other.maxX) - left, height: max(maxY, other.maxY) - top)
  }

  /// Grown outwards so that every edge lies on a multiple of `step` (for chroma subsampling: 2), within `bounds`.
  public func aligned(to step: Int, within bounds: PixelSize) -> PixelRect {
    let left = max(0, x / step * step)
    let top = max(0, y / step * step)
    let right = min(bounds.width, (maxX + step - 1) / step * step)
    let bottom = min(bounds.height, (maxY + step - 1) / step * step)
    return PixelRect(x: left, y: top, width: max(0, right - left), height: max(0, bottom - top))
  }
}
