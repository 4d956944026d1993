import RTCCaptureX11
import RTCMedia
import RTCTestKit
import Testing
import XvfbKit

extension X11CaptureTests {
  @Suite struct WindowCaptureTests {
    private static let place = PixelRect(x: 50, y: 40, width: 200, height: 120)

    @Test func `a covered window is whole`() async throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      let window = client.window(Self.place, title: "Under", border: 3, color: 0x00aa00)
      let (capturer, collector, first) = try await begin(display, .window("under"))
      #expect(first.size == PixelSize(width: 200, height: 120))
      _ = client.window(PixelRect(x: 0, y: 0, width: 640, height: 480), color: 0xff0000)
      client.fill(PixelRect(x: 10, y: 20, width: 30, height: 15), 0x0000ee, of: window)
      var frame = try #require(await collector.frame())
      while frame.pixel(10, 20) != 0x0000ee { frame = try #require(await collector.frame()) }
      #expect(frame.pixel(0, 0) == 0x00aa00)
      #expect(frame.pixel(199, 119) == 0x00aa00)
      // The server may tell the window's first painting late, in the same frame: then the damage is more than the patch.
      let patch = PixelRect(x: 10, y: 20, width: 30, height: 15)
      #expect(frame.damageBounds?.intersection(patch) == patch)
      capturer.stopCapture()
    }

    @Test func `the cast follows the window's size`() async throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      let window = client.window(Self.place, title: "Sized", color: 0x123456)
      let (capturer, collector, _) = try await begin(display, .window("Sized"))
      client.resize(window, width: 333, height: 77)
      var frame = try #require(await collector.frame())
      while frame.size != PixelSize(width: 333, height: 77) { frame = try #require(await collector.frame()) }
      #expect(frame.damage == nil)
      capturer.stopCapture()
    }

    @Test func `a moved window does not start over`() async throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      let window = client.window(Self.place, title: "Moved", color: 0x123456)
      let (capturer, collector, _) = try await begin(display, .window("Moved"))
      client.move(window, x: 300, y: 200)
      client.fill(PixelRect(x: 1, y: 2, width: 3, height: 4), 0xffffff, of: window)
      var frame = try #require(await collector.frame())
      while frame.pixel(1, 2) != 0xffffff {
        // The server may call the moved window damaged; it is still the same picture.
        #expect(frame.damage != nil)
        frame = try #require(await collector.frame())
      }
      capturer.stopCapture()
    }

    @Test func `a window hidden and shown again goes on`() async throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      let window = client.window(Self.place, title: "Blinks", color: 0x123456)
      let (capturer, collector, _) = try await begin(display, .window("Blinks"))
      client.unmap(window)
      client.map(window)
      client.fill(PixelRect(x: 0, y: 0, width: 9, height: 9), 0xabcdef, of: window)
      var frame = try #require(await collector.frame())
      while frame.pixel(5, 5) != 0xabcdef { frame = try #require(await collector.frame()) }
      capturer.stopCapture()
    }

    @Test func `a closed window ends the capture with a sentence`() async throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      let window = client.window(Self.place, title: "Gone", color: 0x123456)
      let (capturer, collector, _) = try await begin(display, .window("0x" + String(window, radix: 16)))
      client.destroy(window)
      #expect(await collector.ended() == .lost("The window “Gone” was closed."))
      capturer.stopCapture()
    }
  }
}
