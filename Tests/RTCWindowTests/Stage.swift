import Glibc
import RTCCaptureX11
import RTCMedia
import RTCTestKit
import RTCWindow
import Testing
import XvfbKit

/// Windows one after the other: a process has one at a time, and SDL finds its display in the environment.
@Suite(.timeLimit(.minutes(1)), .serialized, .enabled(if: XvfbDisplay.isInstalled)) struct CallWindowTests {}

/// An X server that the windows of this process open on from now on.
func openDisplay() throws -> XvfbDisplay {
  let display = try XvfbDisplay()
  setenv("DISPLAY", display.name, 1)
  return display
}

/// A window on an X server of its own that it covers, and somebody who looks at the screen.
final class Stage {
  static let size = PixelSize(width: 640, height: 480)

  let display: XvfbDisplay
  let client: XClient
  let window: CallWindow
  private let capturer: X11Capturer
  private let collector = FrameCollector()
  private var seen: VideoFrame?

  init(_ drawing: Drawing = .byProcessor, size: PixelSize? = Stage.size) async throws {
    display = try openDisplay()
    client = XClient(display)
    // So that black can be told from nothing.
    client.fill(PixelRect(Self.size), 0x806040)
    window = try await CallWindow.open(title: "Stage", size: size, drawing: drawing)
    capturer = X11Capturer(options: X11CaptureOptions(display: display.name, cursor: false))
    let format = VideoFormat(size: Self.size, frameRates: 0...200, pixelFormat: .bgra)
    capturer.startCapture(format: format, consumer: collector)
  }

  deinit { capturer.stopCapture() }

  /// Waits until the screen is as `isRight` wants it (nil: it is, else what is wrong).
  func expect(
    _ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ isRight: (VideoFrame) -> String?
  ) async {
    var fault = "nothing was seen"
    while true {
      if let seen {
        guard let found = isRight(seen) else { return }
        fault = found
      }
      guard case .frame(let next)? = await nextFrame() else {
        Issue.record("\(what): \(fault)", sourceLocation: sourceLocation)
        return
      }
      seen = next
    }
  }

  private func nextFrame() async -> FrameCollector.Event? {
    while let event = await collector.next(within: .seconds(5)) {
      if case .frame = event { return event }
      if case .ended = event { return nil }
    }
    return nil
  }

  /// Waits for the screen to be black but for `cards` at their places.
  func expect(
    _ cards: [(card: TestCard, place: PixelRect)], _ what: String = "the screen",
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    await expect(what, sourceLocation: sourceLocation) { frame in
      for (card, place) in cards {
        if let fault = card.fault(in: frame, at: place) { return fault }
      }
      return faultOutside(cards.map(\.place), in: frame)
    }
  }

  /// Our window, as X knows it.
  var xWindow: UInt32 { client.shownWindows.last ?? 0 }

  /// Where our window's picture lies on the screen.
  var windowCorner: (x: Int, y: Int)? { client.corner(of: xWindow) }

  func event() async -> CallWindow.Event? { await window.events.next() }

  /// Types at the window.
  func press(_ key: String) throws {
    client.focus(xWindow)
    try display.run("xdotool", "key", key)
  }
}

/// The first pixel outside `places` that is not black.
private func faultOutside(_ places: [PixelRect], in frame: VideoFrame) -> String? {
  for y in 0..<frame.size.height {
    var x = 0
    while x < frame.size.width {
      // Edges may be blended.
      if let place = places.first(where: { $0.x - 1 <= x && x <= $0.maxX && $0.y - 1 <= y && y <= $0.maxY }) {
        x = place.maxX + 1
        continue
      }
      let color = frame.pixel(x, y)
      if color != 0 { return "\(x), \(y) is \(hex(color)) where it should be black" }
      x += 1
    }
  }
  return nil
}

func hex(_ color: UInt32) -> String { String(color + 0x1000000, radix: 16).dropFirst().description }
