import Dispatch
import FeatureKit
import ProcessKit
import RTCAudio
import RTCMedia
import RTCPrimitives
import Synchronization
import Testing

extension PulseTests {
  @Suite struct CaptureTimeTests {
    /// How long after its last sample was heard each frame arrived, in nanoseconds.
    private final class Ages: AudioConsumer {
      private let ages = Mutex<[Int64]>([])
      private let news = DispatchSemaphore(value: 0)

      func audioCaptureDidStart(_ result: Result<AudioFormat, CaptureError>) {}
      func audioCaptureDidEnd(_ reason: CaptureEnd) {}

      func consume(_ frame: AudioFrame) {
        let arrival = monotonicNanoseconds()
        let samples = frame.samples.count / frame.format.channels
        let end = frame.captureTime.nanoseconds + Int64(samples) * 1_000_000_000 / Int64(frame.format.sampleRate)
        ages.withLock { $0.append(arrival - end) }
        news.signal()
      }

      /// Waits for so many; fewer when they do not come within 20 seconds.
      func first(_ count: Int) -> [Int64] {
        let deadline = DispatchTime.now() + .seconds(20)
        while ages.withLock({ $0.count }) < count {
          if news.wait(timeout: deadline) == .timedOut { break }
        }
        return ages.withLock { Array($0.prefix(count)) }
      }
    }

    @Test(.feature("S0.73")) func `sound has the time at which it was heard, on the monotonic clock`() throws {
      let server = try PulseServer(PulseServer.microphone("mic", frequency: 600))
      let source = PulseAudioSource(.device("mic"), server: server.address)
      let ages = Ages()
      source.startCapture(consumer: ages)
      let seen = ages.first(50)
      source.stopCapture()
      #expect(seen.count == 50)
      // A busy machine may be late with some, hardly with all.
      let nearest = try #require(seen.min { abs($0) < abs($1) })
      #expect(abs(nearest) < 50_000_000, "\(seen)")
    }
  }
}
