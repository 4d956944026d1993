import RTCCaptureX11
import RTCMedia
import RTCTestKit
import Testing
import XvfbKit

/// Displays that lack something still work, and say what it costs.
extension X11CaptureTests {
  @Suite struct PoorDisplayTests {
    private func drawAndExpect(
      _ display: XvfbDisplay, draw: UInt32, expect color: UInt32, tolerance: Int = 0
    ) async throws -> (notices: [String], damage: [PixelRect]?) {
      let notices = Notices()
      let client = XClient(display)
      let (capturer, collector, _) = try await begin(display, notices: notices)
      client.fill(PixelRect(x: 30, y: 40, width: 50, height: 60), draw)
      var frame = try #require(await collector.frame())
      func isThere(_ frame: VideoFrame) -> Bool {
        let pixel = frame.pixel(79, 99)
        return [16, 8, 0].allSatisfy { abs(Int(pixel >> $0 & 255) - Int(color >> $0 & 255)) <= tolerance }
      }
      while !isThere(frame) { frame = try #require(await collector.frame()) }
      capturer.stopCapture()
      return (notices.all, frame.damage)
    }

    @Test func `without shared memory pictures are copied and that is said once`() async throws {
      let display = try XvfbDisplay(options: ["-extension", "MIT-SHM"])
      let (notices, damage) = try await drawAndExpect(display, draw: 0x336699, expect: 0x336699)
      #expect(notices.count == 1)
      #expect(damage == [PixelRect(x: 30, y: 40, width: 50, height: 60)])
    }

    @Test func `without damage every picture is whole`() async throws {
      let display = try XvfbDisplay(options: ["-extension", "DAMAGE"])
      let (notices, damage) = try await drawAndExpect(display, draw: 0x336699, expect: 0x336699)
      #expect(notices.count == 1)
      #expect(damage == nil)
    }

    @Test func `depth 16 is converted`() async throws {
      let display = try XvfbDisplay(screen: "640x480x16")
      // 5, 6 and 5 bits: red full, green half, blue none.
      let (notices, _) = try await drawAndExpect(display, draw: 0xfc00, expect: 0xff8200, tolerance: 2)
      #expect(notices.count == 1)
    }

    @Test func `depth 30 is converted`() async throws {
      let display = try XvfbDisplay(screen: "640x480x30")
      let (notices, _) = try await drawAndExpect(
        display, draw: 0x3ff << 20 | 0x200 << 10, expect: 0xff8000, tolerance: 2)
      #expect(notices.count == 1)
    }

    @Test func `a depth without colours is refused with a sentence`() async throws {
      let display = try XvfbDisplay(screen: "640x480x8")
      let collector = FrameCollector()
      let capturer = X11Capturer(options: X11CaptureOptions(display: display.name))
      defer { capturer.stopCapture() }
      capturer.startCapture(format: format(fps: 30), consumer: collector)
      guard case .failure(.unsupportedFormat(let sentence)) = await collector.started() else {
        Issue.record("not refused"); return
      }
      #expect(sentence.contains("8 bits"))
    }
  }
}
