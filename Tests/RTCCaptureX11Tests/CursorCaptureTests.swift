import RTCCaptureX11
import RTCMedia
import RTCTestKit
import Testing
import XvfbKit

extension X11CaptureTests {
  @Suite struct CursorCaptureTests {
    private static let ground: UInt32 = 0x0000ff

    private func bluePicture() throws -> (XvfbDisplay, XClient) {
      let display = try XvfbDisplay()
      let client = XClient(display)
      client.fill(PixelRect(x: 0, y: 0, width: 640, height: 480), Self.ground)
      client.warpPointer(x: 100, y: 100)
      return (display, client)
    }

    private func foreignPixels(_ frame: VideoFrame, around x: Int, _ y: Int) -> Int {
      var count = 0
      for line in max(0, y - 20)..<min(frame.size.height, y + 20) {
        for column in max(0, x - 20)..<min(frame.size.width, x + 20) where frame.pixel(column, line) != Self.ground {
          count += 1
        }
      }
      return count
    }

    @Test func `the pointer is drawn where it is`() async throws {
      let (display, _) = try bluePicture()
      let (capturer, _, frame) = try await begin(display, cursor: true)
      #expect(foreignPixels(frame, around: 100, 100) > 20)
      capturer.stopCapture()
    }

    @Test func `without cursor the picture is the screen`() async throws {
      let (display, _) = try bluePicture()
      let (capturer, _, frame) = try await begin(display, cursor: false)
      #expect(foreignPixels(frame, around: 100, 100) == 0)
      capturer.stopCapture()
    }

    @Test func `moving the pointer alone is a change of its old and new place`() async throws {
      let (display, client) = try bluePicture()
      let (capturer, collector, _) = try await begin(display, cursor: true)
      client.warpPointer(x: 400, y: 300)
      let frame = try #require(await collector.frame())
      #expect(foreignPixels(frame, around: 100, 100) == 0)
      #expect(foreignPixels(frame, around: 400, 300) > 20)
      let damage = try #require(frame.damage)
      #expect(damage.reduce(0) { $0 + $1.area } < 64 * 64 * 2)
      #expect(damage.contains { !$0.intersection(PixelRect(x: 90, y: 90, width: 20, height: 20)).isEmpty })
      #expect(damage.contains { !$0.intersection(PixelRect(x: 390, y: 290, width: 20, height: 20)).isEmpty })
      capturer.stopCapture()
    }

    @Test func `motion of a device is heard and not polled`() async throws {
      let (display, _) = try bluePicture()
      let (capturer, collector, first) = try await begin(display, cursor: true)
      try display.run("xdotool", "mousemove_relative", "--", "50", "40")
      let frame = try #require(await collector.frame())
      #expect(foreignPixels(frame, around: 150, 140) > 20)
      #expect(frame.captureTime > first.captureTime)
      capturer.stopCapture()
    }

    @Test func `drawing under the pointer keeps the pointer`() async throws {
      let (display, client) = try bluePicture()
      let (capturer, collector, _) = try await begin(display, cursor: true)
      client.fill(PixelRect(x: 80, y: 80, width: 60, height: 60), 0x00ff00)
      let frame = try #require(await collector.frame())
      #expect(frame.pixel(85, 135) == 0x00ff00)
      client.warpPointer(x: 500, y: 400)
      let after = try #require(await collector.frame())
      for y in 85..<135 { for x in 85..<135 where after.pixel(x, y) != 0x00ff00 { Issue.record("\(x),\(y)") } }
      capturer.stopCapture()
    }

    @Test func `a pointer whose program is gone is the default arrow`() async throws {
      let (display, client) = try bluePicture()
      let owner = XClient(display)
      client.kill(ownerOf: owner.setPointer(glyph: 30))
      let (capturer, collector, first) = try await begin(display, cursor: true)
      defer { capturer.stopCapture() }
      #expect([first.pixel(100, 100), first.pixel(101, 102), first.pixel(111, 100)] == [0xffffff, 0, Self.ground])
      // A program that lives gives the pointer its image again.
      client.setPointer(glyph: 30)
      var frame = try #require(await collector.frame())
      // A cross, whose arms reach where the arrow does not.
      while frame.pixel(106, 100) == Self.ground {
        frame = try #require(await collector.frame())
      }
    }
  }
}
