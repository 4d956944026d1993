package import RTCMedia

/// How a picture lies in a buffer: one of the eight ways to turn and mirror it. A pure value.
package struct PixelOrientation: Hashable, Sendable {
  /// Rows of the upright picture are columns of the buffer.
  package var swapsAxes: Bool
  /// Columns of the buffer count from its right edge.
  package var flipsX: Bool
  /// Rows of the buffer count from its lower edge.
  package var flipsY: Bool

  /// The picture lies as it is shown.
  package static let upright = PixelOrientation(swapsAxes: false, flipsX: false, flipsY: false)

  package init(swapsAxes: Bool, flipsX: Bool, flipsY: Bool) {
    (self.swapsAxes, self.flipsX, self.flipsY) = (swapsAxes, flipsX, flipsY)
  }

  /// - Parameter transform: a value of `wl_output.transform`; others count as none.
  package init(transform: Int32) {
    switch transform {
    case 1: self.init(swapsAxes: true, flipsX: false, flipsY: true)
    case 2: self.init(swapsAxes: false, flipsX: true, flipsY: true)
    case 3: self.init(swapsAxes: true, flipsX: true, flipsY: false)
    case 4: self.init(swapsAxes: false, flipsX: true, flipsY: false)
    case 5: self.init(swapsAxes: true, flipsX: false, flipsY: false)
    case 6: self.init(swapsAxes: false, flipsX: false, flipsY: true)
    case 7: self.init(swapsAxes: true, flipsX: true, flipsY: true)
    default: self = .upright
    }
  }

  /// The last row of the picture is the first of the buffer.
  package func upsideDown() -> PixelOrientation {
    PixelOrientation(swapsAxes: swapsAxes, flipsX: flipsX, flipsY: !flipsY)
  }

  /// The size of the upright picture in a buffer of `size`.
  package func uprightSize(of size: PixelSize) -> PixelSize {
    swapsAxes ? PixelSize(width: size.height, height: size.width) : size
  }

  /// The place in the upright picture of a part of a buffer of `size`.
  package func upright(_ rect: PixelRect, in size: PixelSize) -> PixelRect {
    let x = flipsX ? size.width - rect.maxX : rect.x
    let y = flipsY ? size.height - rect.maxY : rect.y
    return swapsAxes
      ? PixelRect(x: y, y: x, width: rect.height, height: rect.width)
      : PixelRect(x: x, y: y, width: rect.width, height: rect.height)
  }

  /// The place in a buffer of `size` of a pixel of the upright picture.
  package func buffered(x: Int, y: Int, in size: PixelSize) -> (x: Int, y: Int) {
    let (u, v) = swapsAxes ? (y, x) : (x, y)
    return (flipsX ? size.width - 1 - u : u, flipsY ? size.height - 1 - v : v)
  }
}
