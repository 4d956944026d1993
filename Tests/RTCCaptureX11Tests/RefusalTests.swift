import FeatureKit
import RTCCaptureX11
import RTCMedia
import RTCTestKit
import Testing
import XvfbKit

extension X11CaptureTests {
  @Suite struct RefusalTests {
    private func refusal(
      _ display: String?, _ target: X11CaptureOptions.Target = .screen, fps: Double = 30
    ) async -> CaptureError? {
      let collector = FrameCollector()
      let capturer = X11Capturer(options: X11CaptureOptions(display: display, target: target))
      capturer.startCapture(format: format(fps: fps), consumer: collector)
      defer { capturer.stopCapture() }
      if case .failure(let error) = await collector.started() { return error }
      return nil
    }

    @Test(.feature("S1.22")) func `a display that is not there is unavailable`() async {
      guard case .unavailable(let sentence) = await refusal(":4711") else { Issue.record("not refused"); return }
      #expect(sentence.contains(":4711"))
    }

    @Test func `a region outside the screen names the screen's size`() async throws {
      let display = try XvfbDisplay()
      let error = await refusal(display.name, .region(PixelRect(x: 600, y: 0, width: 100, height: 100)))
      guard case .unsupportedFormat(let sentence) = error else { Issue.record("not refused"); return }
      #expect(sentence.contains("640x480"))
      #expect(sentence.contains("100x100+600+0"))
    }

    @Test func `a monitor that is not there is answered with the ones that are`() async throws {
      let display = try XvfbDisplay()
      let names = try X11Screens.list(display: display.name).monitors.map(\.name)
      guard case .noSuchSource(let sentence) = await refusal(display.name, .monitor("DP-99")) else {
        Issue.record("not refused"); return
      }
      for name in names { #expect(sentence.contains(name)) }
    }

    @Test func `an unknown window is refused`() async throws {
      let display = try XvfbDisplay()
      for wanted in ["no such title", "0x7654321", "12345"] {
        guard case .noSuchSource = await refusal(display.name, .window(wanted)) else {
          Issue.record("not refused: \(wanted)"); return
        }
      }
    }

    @Test func `an ambiguous title is answered with the windows`() async throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      _ = client.window(PixelRect(x: 0, y: 0, width: 50, height: 50), title: "Editor one")
      _ = client.window(PixelRect(x: 60, y: 0, width: 50, height: 50), title: "Editor two")
      guard case .noSuchSource(let sentence) = await refusal(display.name, .window("editor")) else {
        Issue.record("not refused"); return
      }
      #expect(sentence.contains("Editor one") && sentence.contains("Editor two"))
      #expect(await refusal(display.name, .window("Editor two")) == nil)
    }

    @Test func `a rate of nothing is refused`() async throws {
      let display = try XvfbDisplay()
      guard case .unsupportedFormat = await refusal(display.name, fps: 0) else {
        Issue.record("not refused"); return
      }
    }
  }
}
