import RTCCapture
import RTCMedia
import Testing

/// From points of a picture to points of the screen.
@Suite struct ScreenPlacementTests {
  @Test func `a region's points are offset by its place`() {
    let placement = ScreenPlacement(
      area: PixelRect(x: 100, y: 50, width: 640, height: 480), picture: PixelSize(width: 640, height: 480))
    #expect(placement.surfacePoint(x: 0, y: 0) == ScreenPlacement.Point(x: 100, y: 50))
    #expect(placement.surfacePoint(x: 639, y: 479.5) == ScreenPlacement.Point(x: 739, y: 529.5))
  }

  @Test func `a scaled desktop has fewer units than pixels`() {
    let placement = ScreenPlacement(
      area: PixelRect(x: 1280, y: 0, width: 1280, height: 720), picture: PixelSize(width: 2560, height: 1440))
    #expect(placement.surfacePoint(x: 100, y: 1000) == ScreenPlacement.Point(x: 1330, y: 500))
  }

  @Test func `nothing is outside the picture`() {
    let placement = ScreenPlacement(
      area: PixelRect(x: 0, y: 0, width: 10, height: 10), picture: PixelSize(width: 10, height: 10))
    #expect(placement.surfacePoint(x: -0.1, y: 0) == nil && placement.surfacePoint(x: 0, y: 10) == nil)
    #expect(placement.surfacePoint(x: .nan, y: 0) == nil)
  }
}
