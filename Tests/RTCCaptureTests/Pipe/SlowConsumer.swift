import Glibc
import RTCMedia
import RTCTestKit
import Synchronization

/// A consumer that takes its time: it waits for something that never comes.
final class SlowConsumer: VideoConsumer {
  let collector = FrameCollector()
  private let pause: Int32
  private let seen = Mutex<[Int]>([])

  /// - Parameter pause: in microseconds.
  init(pause: Int32) { self.pause = pause }

  var shades: [Int] { seen.withLock { $0 } }

  func captureDidStart(_ result: Result<VideoFormat, CaptureError>) { collector.captureDidStart(result) }
  func captureDidEnd(_ reason: CaptureEnd) { collector.captureDidEnd(reason) }
  func consume(_ frame: VideoFrame) {
    seen.withLock { $0.append(frame.shade) }
    poll(nil, 0, pause / 1000)
  }
}
