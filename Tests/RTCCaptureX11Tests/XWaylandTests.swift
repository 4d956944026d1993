import RTCCaptureX11
import RTCMedia
import RTCTestKit
import Testing
import XvfbKit

extension X11CaptureTests {
  /// The display of a Wayland desktop: the screen is refused, windows of X programs are captured.
  @Suite(.enabled(if: XWaylandDisplay.isInstalled)) struct XWaylandTests {
    @Test(arguments: [
      X11CaptureOptions.Target.screen, .monitor("0"), .region(PixelRect(x: 0, y: 0, width: 100, height: 100)),
    ]) func `the screen is refused with what works instead`(target: X11CaptureOptions.Target) async throws {
      let display = try XWaylandDisplay()
      let collector = FrameCollector()
      let capturer = X11Capturer(options: X11CaptureOptions(display: display.name, target: target))
      defer { capturer.stopCapture() }
      capturer.startCapture(format: format(fps: 30), consumer: collector)
      let started = await collector.started()
      guard case .failure(.unavailable(let sentence)) = started else {
        Issue.record("A screen without a picture is captured: \(String(describing: started))")
        return
      }
      for words in ["XWayland", "X11", "--window", "rtcast pipe"] { #expect(sentence.contains(words)) }
      #expect(capturer.supportedFormats.isEmpty)
    }

    @Test func `a window is captured and followed`() async throws {
      let display = try XWaylandDisplay()
      let client = XClient(display)
      let window = client.window(
        PixelRect(x: 50, y: 40, width: 200, height: 120), title: "X program", color: 0x00aa00)
      let (capturer, collector, first) = try await begin(display, .window("X program"))
      defer { capturer.stopCapture() }
      #expect(first.size == PixelSize(width: 200, height: 120))
      client.fill(PixelRect(x: 10, y: 20, width: 30, height: 15), 0x0000ee, of: window)
      var frame = try #require(await collector.frame())
      while frame.pixel(10, 20) != 0x0000ee { frame = try #require(await collector.frame()) }
      #expect(frame.pixel(0, 0) == 0x00aa00)
      #expect(frame.pixel(199, 119) == 0x00aa00)
    }

    @Test func `lists and probes say that the screen cannot be captured`() throws {
      let display = try XWaylandDisplay()
      let client = XClient(display)
      let id = client.window(PixelRect(x: 7, y: 8, width: 90, height: 60), title: "Listed window")
      let screens = try X11Screens.list(display: display.name)
      #expect(screens.screenRefusal != nil)
      #expect(screens.windows.contains { $0.id == id })
      #expect(try X11Probe(display: display.name).screenRefusal == screens.screenRefusal)
    }

    @Test func `a display with a screen is not refused`() throws {
      let display = try XvfbDisplay()
      #expect(try X11Screens.list(display: display.name).screenRefusal == nil)
      #expect(try X11Probe(display: display.name).screenRefusal == nil)
    }
  }
}
