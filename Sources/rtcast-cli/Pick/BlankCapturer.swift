import RTCCapture
import RTCMedia
import RTCNet

/// The source of a cast while the caster has picked none: one dark picture, and a sentence for the pages of viewers.
final class BlankCapturer: VideoCapturer {
  private static let format = VideoFormat(
    size: PixelSize(width: 1280, height: 720), frameRates: 0...1000, pixelFormat: .bgra)
  private static let sentence = "Nothing is shown yet: the caster has not picked a screen or window."

  private let thread = WorkerThread()

  var supportedFormats: [VideoFormat] { [Self.format] }
  var isScreencast: Bool { true }

  func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    do throws(CaptureError) {
      try thread.startCapture(name: "rtc-blank") { run in
        consumer.captureDidStart(.success(Self.format))
        let picture = PixelBuffer.allocate(format: .bgra, size: Self.format.size) { _, bytes, _ in
          // The ground of the pages, #0a0c10.
          for place in stride(from: 0, to: bytes.count - 3, by: 4) {
            (bytes[place], bytes[place + 1], bytes[place + 2], bytes[place + 3]) = (0x10, 0x0c, 0x0a, 0xff)
          }
        }
        if let picture {
          consumer.consume(VideoFrame(buffer: picture, captureTime: MonotonicClock.now(), colorSpace: .sRGB))
        }
        consumer.captureDidStall(Self.sentence)
        while !run.isStopped { run.wait(until: nil) }
      }
    } catch {
      consumer.captureDidStart(.failure(error))
    }
  }

  func stopCapture() { thread.stop() }
}
