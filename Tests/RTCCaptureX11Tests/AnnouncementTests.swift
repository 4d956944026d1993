import RTCMedia
import RTCTestKit
import Testing
import XvfbKit

extension X11CaptureTests {
  /// A change that waits for its turn is told at once, so that nobody takes the picture for one at rest.
  @Suite struct AnnouncementTests {
    @Test func `a change that waits for the frame rate is announced with the time of its frame`() async throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      // A second between two frames: however busy the machine, the changes come before the next is due.
      let (capturer, collector, first) = try await begin(display, fps: 1)
      for step in 0..<3 { client.fill(PixelRect(x: 20 * step, y: 20, width: 10, height: 10), 0x404040) }
      let second = try #require(await collector.frame())
      // The first frame may have been announced too.
      let announced = collector.announcedFrames.filter { $0 > first.captureTime + .milliseconds(500) }
      #expect(announced.count == 1, "once for all changes")
      let time = try #require(announced.first)
      #expect(time > first.captureTime + .milliseconds(900) && time <= second.captureTime)
      client.fill(PixelRect(x: 100, y: 20, width: 10, height: 10), 0x404040)
      _ = try #require(await collector.frame())
      let later = collector.announcedFrames.filter { $0 > second.captureTime + .milliseconds(500) }
      #expect(later.count == 1, "each frame that has to wait is announced")
      capturer.stopCapture()
    }

    @Test func `a change that is grabbed as soon as it is painted is not announced`() async throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      let (capturer, collector, _) = try await begin(display, fps: 200)
      for step in 0..<5 {
        client.fill(PixelRect(x: 20 * step, y: 20, width: 10, height: 10), 0x404040)
        _ = try #require(await collector.frame())
      }
      #expect(collector.announcedFrames.isEmpty)
      capturer.stopCapture()
    }
  }
}
