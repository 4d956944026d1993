import RTCMedia
import RTCTestKit
import Synchronization

/// A consumer with a lot to do: it goes through all bytes of each picture again and again, which takes many times as long as
/// to write one.
final class SlowConsumer: VideoConsumer {
  let collector = FrameCollector()
  private let passes: Int
  private let seen = Mutex<[Int]>([])
  private let total = Mutex(0)

  init(passes: Int) { self.passes = passes }

  var shades: [Int] { seen.withLock { $0 } }

  func captureDidStart(_ result: Result<VideoFormat, CaptureError>) { collector.captureDidStart(result) }
  func captureDidEnd(_ reason: CaptureEnd) { collector.captureDidEnd(reason) }
  func consume(_ frame: VideoFrame) {
    seen.withLock { $0.append(frame.shade) }
    let bytes = frame.buffer.bytes(ofPlane: 0)
    var sum = 0
    for _ in 0..<passes { for index in bytes.indices { sum = sum &* 31 &+ Int(bytes[index]) } }
    total.withLock { $0 = $0 &+ sum }
  }
}
