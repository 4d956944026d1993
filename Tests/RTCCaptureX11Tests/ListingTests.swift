import FeatureKit
import RTCCaptureX11
import RTCMedia
import Testing
import XvfbKit

extension X11CaptureTests {
  @Suite struct ListingTests {
    @Test func `screens, monitors and windows are listed`() throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      let id = client.window(PixelRect(x: 7, y: 8, width: 90, height: 60), title: "Listed window")
      let screens = try X11Screens.list(display: display.name)
      #expect(screens.size == PixelSize(width: 640, height: 480))
      #expect(screens.monitors.first?.rect == PixelRect(x: 0, y: 0, width: 640, height: 480))
      #expect(
        screens.windows == [
          X11Window(
            id: id, title: "Listed window", rect: PixelRect(x: 7, y: 8, width: 90, height: 60), isMapped: true)
        ])
    }

    @Test func `the probe says what the display has`() throws {
      let display = try XvfbDisplay(options: ["-extension", "Composite"])
      let probe = try X11Probe(display: display.name)
      #expect(probe.sharesMemory && probe.isDirect && probe.depth == 24)
      #expect(probe.extensions.first { $0.name == "DAMAGE" }?.version != nil)
      #expect(probe.extensions.first { $0.name == "Composite" }.map { $0.version == nil } == true)
    }

    @Test(.feature("S1.22", "S4.22", "S4.23", "S4.34")) func `the supported format is the target's size`() throws {
      let display = try XvfbDisplay()
      let whole = X11Capturer(options: X11CaptureOptions(display: display.name))
      let format = try #require(whole.supportedFormats.first)
      #expect(format.size == PixelSize(width: 640, height: 480) && format.pixelFormat == .bgra)
      #expect(format.frameRates.contains(1) && format.frameRates.contains(60))
      let missing = X11Capturer(options: X11CaptureOptions(display: display.name, target: .window("none")))
      #expect(missing.supportedFormats.isEmpty)
    }
  }
}
