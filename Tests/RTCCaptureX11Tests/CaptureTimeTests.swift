import FeatureKit
import ProcessKit
import RTCCaptureX11
import RTCMedia
import RTCTestKit
import Synchronization
import Testing
import XvfbKit

extension X11CaptureTests {
  @Suite struct CaptureTimeTests {
    @Test(.feature("S0.73")) func `a picture has the time at which it was grabbed, on the monotonic clock`()
      async throws
    {
      let display = try XvfbDisplay()
      let client = XClient(display)
      let arrivals = Mutex<[Int64]>([])
      let collector = FrameCollector { _ in arrivals.withLock { $0.append(monotonicNanoseconds()) } }
      let capturer = X11Capturer(options: X11CaptureOptions(display: display.name, cursor: false))
      capturer.startCapture(format: format(fps: 100), consumer: collector)
      _ = try #require(await collector.frame())
      var ages: [Int64] = []
      for step in 1...10 {
        let before = monotonicNanoseconds()
        client.fill(PixelRect(x: 20 * step, y: 20, width: 10, height: 10), 0x404040)
        let frame = try #require(await collector.frame())
        let arrival = try #require(arrivals.withLock { $0.last })
        #expect((before...arrival).contains(frame.captureTime.nanoseconds))
        ages.append(frame.captureTime.nanoseconds - before)
      }
      // A busy machine may be late with some, hardly with all.
      #expect(try #require(ages.min()) < 50_000_000, "\(ages)")
      capturer.stopCapture()
    }
  }
}
