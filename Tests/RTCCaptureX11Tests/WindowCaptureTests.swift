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

    /// i3 unmaps the frame at a change of workspace, and the window itself stays mapped.
    @Test func `a window whose frame is hidden and shown is live again each time, at its new size`() async throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      let frame = client.window(PixelRect(x: 10, y: 10, width: 220, height: 160))
      let window = client.window(Self.place, title: "Framed", color: 0x123456)
      client.reparent(window, into: frame, x: 4, y: 20)
      let (capturer, collector, _) = try await begin(display, .window("Framed"))
      defer { capturer.stopCapture() }
      var size = PixelSize(width: 200, height: 120)
      for turn in 0..<10 {
        client.unmap(frame)
        if turn == 4 {
          size = PixelSize(width: 150, height: 90)
          client.resize(window, width: size.width, height: size.height)
        }
        client.map(frame)
        let color = UInt32(turn + 1) << 20 | 0xabcd
        client.fill(PixelRect(x: 0, y: 0, width: 9, height: 9), color, of: window)
        var picture = try #require(await collector.frame())
        while picture.pixel(5, 5) != color || picture.size != size {
          picture = try #require(await collector.frame())
        }
      }
    }

    @Test func `a window that moves into a frame while it is captured is followed there`() async throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      let window = client.window(Self.place, title: "Adopted", color: 0x123456)
      let (capturer, collector, _) = try await begin(display, .window("Adopted"))
      defer { capturer.stopCapture() }
      let frame = client.window(PixelRect(x: 10, y: 10, width: 220, height: 160))
      client.reparent(window, into: frame, x: 4, y: 20)
      client.unmap(frame)
      #expect(try await stall(collector) != nil)
      client.map(frame)
      client.fill(PixelRect(x: 0, y: 0, width: 9, height: 9), 0xabcdef, of: window)
      var picture = try #require(await collector.frame())
      while picture.pixel(5, 5) != 0xabcdef { picture = try #require(await collector.frame()) }
    }

    @Test func `a hidden window is reported once, and its return too`() async throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      let window = client.window(Self.place, title: "Reported", color: 0x123456)
      let (capturer, collector, _) = try await begin(display, .window("Reported"))
      defer { capturer.stopCapture() }
      for _ in 0..<2 {
        client.unmap(window)
        #expect(
          try await stall(collector)
            == "The window “Reported” is hidden; its last picture stays until it is shown again.")
        client.map(window)
        while let event = await collector.next() {
          if case .stalled = event { Issue.record("reported twice") }
          if case .resumed = event { break }
        }
      }
    }

    /// The next sentence that says why the picture stands still.
    private func stall(_ collector: FrameCollector) async throws -> String? {
      while let event = await collector.next() {
        if case .stalled(let sentence) = event { return sentence }
      }
      return nil
    }
  }
}
