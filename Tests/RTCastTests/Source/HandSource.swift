import RTCCapture
import RTCMedia
import RTCPrimitives
import Synchronization
import Testing

/// A source that does what a test says, on the test's own thread.
final class HandCapturer: VideoCapturer {
  private struct State {
    var consumer: (any VideoConsumer)?
    var starts: [VideoFormat] = []
    var stops = 0
  }

  private let state = Mutex(State())
  private let size: PixelSize
  private let failure: CaptureError?
  let isScreencast: Bool

  init(size: PixelSize = PixelSize(width: 64, height: 48), isScreencast: Bool = false, failure: CaptureError? = nil) {
    self.size = size
    self.isScreencast = isScreencast
    self.failure = failure
  }

  var supportedFormats: [VideoFormat] { [VideoFormat(size: size, frameRates: 0...60, pixelFormat: .bgra)] }
  var starts: [VideoFormat] { state.withLock { $0.starts } }
  var stops: Int { state.withLock { $0.stops } }
  var consumer: (any VideoConsumer)? { state.withLock { $0.consumer } }

  func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    if let failure { return consumer.captureDidStart(.failure(failure)) }
    state.withLock {
      $0.starts.append(format)
      $0.consumer = consumer
    }
    consumer.captureDidStart(.success(format))
  }

  func stopCapture() {
    state.withLock {
      $0.stops += 1
      $0.consumer = nil
    }
  }

  /// A picture of one grey.
  func show(_ grey: UInt8, at time: Timestamp) {
    let buffer = PixelBuffer.allocate(format: .bgra, size: size) { _, bytes, _ in
      for index in bytes.indices { bytes[index] = grey }
    }
    consumer?.consume(VideoFrame(buffer: buffer!, captureTime: time, colorSpace: .sRGB))
  }

  func end(_ reason: CaptureEnd) { consumer?.captureDidEnd(reason) }
}

/// Draws its own pictures, and tells when it is stopped.
final class WatchedCapturer: VideoCapturer {
  private let drawing = SyntheticCapturer(pattern: .bars)
  private let stops = AsyncStream.makeStream(of: Void.self)

  var supportedFormats: [VideoFormat] { drawing.supportedFormats }
  let isScreencast = false
  func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    drawing.startCapture(format: format, consumer: consumer)
  }
  func stopCapture() {
    drawing.stopCapture()
    stops.continuation.yield()
  }

  /// Returns true at its next stop, or at once after one that nobody has waited for. A time limit ends a wait in vain.
  func isStopped() async -> Bool {
    var iterator = stops.stream.makeAsyncIterator()
    return await iterator.next() != nil
  }
}

/// Sound that comes when a test says.
final class HandSound: AudioSource {
  private let consumer = Mutex<(any AudioConsumer)?>(nil)
  private let failure: CaptureError?

  init(failure: CaptureError? = nil) { self.failure = failure }

  func startCapture(consumer: any AudioConsumer) {
    if let failure { return consumer.audioCaptureDidStart(.failure(failure)) }
    self.consumer.withLock { $0 = consumer }
    consumer.audioCaptureDidStart(.success(.opus))
  }

  func stopCapture() {}

  /// 100 ms of noise.
  func play(at time: Timestamp) {
    var random = SeededGenerator(seed: 1)
    let samples = (0..<9_600).map { _ in Float(random.next() & 0xFFFF) / 131_072 }
    consumer.withLock { $0 }?.consume(AudioFrame(format: .opus, samples: samples, captureTime: time))
  }

  func end(_ reason: CaptureEnd) { consumer.withLock { $0 }?.audioCaptureDidEnd(reason) }
}

/// A source that pauses when it is told to, as a file does.
final class HandPlayback: PausableSource {
  private let calls = Mutex<[String]>([])
  var told: [String] { calls.withLock { $0 } }
  func pause() { calls.withLock { $0.append("pause") } }
  func resume() { calls.withLock { $0.append("resume") } }
}

/// Keeps what a broadcast sends.
final class SentFrames: EncodedMediaSink {
  private let kept = Mutex<(video: [EncodedFrame], audio: [EncodedAudioFrame])>(([], []))
  var video: [EncodedFrame] { kept.withLock { $0.video } }
  var audio: [EncodedAudioFrame] { kept.withLock { $0.audio } }
  func take(_ frame: EncodedFrame) { kept.withLock { $0.video.append(frame) } }
  func take(_ frame: EncodedAudioFrame) { kept.withLock { $0.audio.append(frame) } }
}
