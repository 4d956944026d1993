package import RTCMedia
import Synchronization

/// The part of a screen that a picture shows, for input that refers to points of the picture.
package struct ScreenPlacement: Hashable, Sendable {
  /// The surface that points of the screen refer to.
  package enum Surface: Hashable, Sendable {
    /// The whole desktop.
    case screen
    /// One window of an X display, which can move on the screen.
    case window(UInt32)
  }

  /// A point in the units of the surface.
  package struct Point: Hashable, Sendable {
    package var x: Double
    package var y: Double

    package init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
  }

  package var surface: Surface
  /// The part of the surface, in its units: pixels, unless the desktop is scaled.
  package var area: PixelRect
  /// The size of the picture in pixels.
  package var picture: PixelSize

  package init(surface: Surface = .screen, area: PixelRect, picture: PixelSize) {
    (self.surface, self.area, self.picture) = (surface, area, picture)
  }

  /// The point of the surface at a point of the picture, which is in pixels from its upper left corner; nil outside the
  /// picture.
  package func surfacePoint(x: Double, y: Double) -> Point? {
    guard x >= 0, y >= 0, x < Double(picture.width), y < Double(picture.height) else { return nil }
    return Point(
      x: Double(area.x) + x * Double(area.width) / Double(picture.width),
      y: Double(area.y) + y * Double(area.height) / Double(picture.height))
  }
}

/// A capturer that knows which part of a screen its picture shows.
package protocol PlacementCapturer: VideoCapturer {
  /// The part of the screen in the newest frames; nil before the first, and if it is not known. Any thread may ask.
  var placement: ScreenPlacement? { get }
}

/// The placement that a capture loop has reported last. Any thread may call it.
package final class PlacementReport: Sendable {
  private let state = Mutex<ScreenPlacement?>(nil)

  package init() {}

  package var now: ScreenPlacement? { state.withLock { $0 } }

  package func set(_ placement: ScreenPlacement?) { state.withLock { $0 = placement } }
}
