import FeatureKit
import RTCCaptureX11
import RTCMedia
import RTCTestKit
import Synchronization
import Testing
import XvfbKit

func format(fps: Double) -> VideoFormat {
  VideoFormat(size: PixelSize(width: 640, height: 480), frameRates: 0...fps, pixelFormat: .bgra)
}

/// Starts a capturer and takes its first frame.
func begin(
  _ display: some TestDisplay, _ target: X11CaptureOptions.Target = .screen, cursor: Bool = false, fps: Double = 100,
  notices: Notices? = nil
) async throws -> (X11Capturer, FrameCollector, VideoFrame) {
  let options = X11CaptureOptions(display: display.name, target: target, cursor: cursor)
  let capturer = X11Capturer(options: options) { notices?.add($0) }
  let collector = FrameCollector()
  capturer.startCapture(format: format(fps: fps), consumer: collector)
  let first = try #require(await collector.frame())
  return (capturer, collector, first)
}

final class Notices: Sendable {
  private let list = Mutex<[String]>([])
  func add(_ notice: String) { list.withLock { $0.append(notice) } }
  var all: [String] { list.withLock { $0 } }
}

extension X11CaptureTests {
  @Suite struct ScreenCaptureTests {
    @Test(.feature("S4.20", "S4.35")) func `the first frame is the whole screen`() async throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      client.fill(PixelRect(x: 0, y: 0, width: 640, height: 480), 0x123456)
      let (capturer, _, frame) = try await begin(display)
      #expect(frame.size == PixelSize(width: 640, height: 480))
      #expect(frame.damage == nil)
      #expect(frame.pixel(0, 0) == 0x123456)
      #expect(frame.pixel(639, 479) == 0x123456)
      capturer.stopCapture()
    }

    @Test(.feature("S4.32", "S4.33")) func `damage is what was drawn and nothing else makes frames`() async throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      let (capturer, collector, _) = try await begin(display)
      for step in 0..<5 {
        let rect = PixelRect(x: 20 + step * 90, y: 33 + step * 70, width: 14, height: 16)
        let color = UInt32(0x40_2010 * (step + 1)) & 0xffffff
        client.fill(rect, color)
        // The very next frame is this drawing: an idle screen made none between.
        let frame = try #require(await collector.frame())
        #expect(frame.damage == [rect])
        #expect(frame.pixel(rect.x, rect.y) == color)
        #expect(frame.pixel(rect.maxX - 1, rect.maxY - 1) == color)
      }
      capturer.stopCapture()
    }

    @Test func `an odd sized screen is captured`() async throws {
      let display = try XvfbDisplay(screen: "321x243x24")
      let client = XClient(display)
      let (capturer, collector, first) = try await begin(display)
      #expect(first.size == PixelSize(width: 321, height: 243))
      client.fill(PixelRect(x: 320, y: 242, width: 1, height: 1), 0xabcdef)
      let frame = try #require(await collector.frame())
      #expect(frame.damage == [PixelRect(x: 320, y: 242, width: 1, height: 1)])
      #expect(frame.pixel(320, 242) == 0xabcdef)
      capturer.stopCapture()
    }

    @Test(.feature("S4.42")) func `a kept frame stays as it was`() async throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      let whole = PixelRect(x: 0, y: 0, width: 640, height: 480)
      client.fill(whole, 0x111111)
      let (capturer, collector, kept) = try await begin(display)
      for color in [0x222222, 0x333333, 0x444444] as [UInt32] {
        client.fill(PixelRect(x: 100, y: 100, width: 50, height: 50), color)
        let frame = try #require(await collector.frame())
        #expect(frame.pixel(120, 120) == color)
        #expect(frame.pixel(5, 5) == 0x111111)
      }
      #expect(kept.pixel(120, 120) == 0x111111)
      capturer.stopCapture()
    }

    @Test(.feature("S4.27", "S4.29")) func `a second start is refused and stopping twice is safe`() async throws {
      let display = try XvfbDisplay()
      let (capturer, _, _) = try await begin(display)
      let second = FrameCollector()
      capturer.startCapture(format: format(fps: 5), consumer: second)
      #expect(await second.started() == .failure(.alreadyStarted))
      capturer.stopCapture()
      capturer.stopCapture()
      let third = FrameCollector()
      capturer.startCapture(format: format(fps: 5), consumer: third)
      #expect(await third.frame() != nil)
      capturer.stopCapture()
    }

    @Test(.feature("S4.27")) func `stopping inside a callback makes it the last`() async throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      let capturer = X11Capturer(options: X11CaptureOptions(display: display.name))
      let counter = FrameCounter()
      let collector = FrameCollector { _ in
        counter.count.withLock { $0 += 1 }
        capturer.stopCapture()
      }
      capturer.startCapture(format: format(fps: 1000), consumer: collector)
      #expect(await collector.frame() != nil)
      client.fill(PixelRect(x: 0, y: 0, width: 9, height: 9), 0xff)
      capturer.stopCapture()
      #expect(counter.count.withLock { $0 } == 1)
    }

    @Test func `a vanished display ends the capture with a sentence`() async throws {
      let display = try XvfbDisplay()
      let (capturer, collector, _) = try await begin(display)
      display.end()
      #expect(await collector.ended() == .lost("The X display \(display.name) went away."))
      capturer.stopCapture()
    }

    @Test func `the cast follows a new screen size`() async throws {
      let display = try XvfbDisplay(screen: "1024x768x24")
      let client = XClient(display)
      let (capturer, collector, first) = try await begin(display)
      #expect(first.size == PixelSize(width: 1024, height: 768))
      try display.resize(width: 800, height: 600)
      var frame = try #require(await collector.frame())
      while frame.size == first.size { frame = try #require(await collector.frame()) }
      #expect(frame.size == PixelSize(width: 800, height: 600))
      #expect(frame.damage == nil)
      client.fill(PixelRect(x: 790, y: 590, width: 10, height: 10), 0xfedcba)
      while frame.pixel(799, 599) != 0xfedcba { frame = try #require(await collector.frame()) }
      capturer.stopCapture()
    }

    @Test func `a region shows only its part and sleeps through the rest`() async throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      let (capturer, collector, first) = try await begin(
        display, .region(PixelRect(x: 100, y: 50, width: 200, height: 100)))
      #expect(first.size == PixelSize(width: 200, height: 100))
      client.fill(PixelRect(x: 400, y: 400, width: 50, height: 50), 0x777777)
      client.fill(PixelRect(x: 90, y: 60, width: 20, height: 10), 0x00ff00)
      var frame = try #require(await collector.frame())
      #expect(frame.damage == [PixelRect(x: 0, y: 10, width: 10, height: 10)])
      #expect(frame.pixel(9, 10) == 0x00ff00)
      client.fill(PixelRect(x: 299, y: 149, width: 10, height: 10), 0x0000ff)
      frame = try #require(await collector.frame())
      #expect(frame.damage == [PixelRect(x: 199, y: 99, width: 1, height: 1)])
      capturer.stopCapture()
    }
  }
}

private final class FrameCounter: Sendable { let count = Mutex(0) }
