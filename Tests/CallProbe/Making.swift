import Dispatch
import RTCCapture
import RTCast
import Synchronization

/// Calls a body at a steady rate on a queue of its own.
final class Ticker: Sendable {
  private let end = Mutex<DispatchWorkItem?>(nil)

  func start(every seconds: Double, _ body: @escaping @Sendable () -> Void) {
    end.withLock { end in
      end?.perform()
      let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "ticker"))
      timer.setEventHandler(handler: body)
      timer.schedule(deadline: .now(), repeating: seconds)
      timer.activate()
      end = DispatchWorkItem { timer.cancel() }
    }
  }

  func stop() {
    end.withLock { end in
      end?.perform()
      end = nil
    }
  }
}

/// Pictures of the application's own, twenty a second, which say that they were taken at whole steps of 50 ms.
final class Drawing: VideoCapturer {
  let supportedFormats = [VideoFormat(size: PixelSize(width: 320, height: 180), frameRates: 1...20, pixelFormat: .bgra)]
  let isScreencast = false
  private let pool = PixelBufferPool()
  private let ticker = Ticker()

  func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    let size = supportedFormats[0].size
    let start = MonotonicClock.now()
    consumer.captureDidStart(.success(VideoFormat(size: size, frameRates: 20...20, pixelFormat: .bgra)))
    ticker.start(every: 0.05) { [self] in
      let step = (MonotonicClock.now() - start).nanoseconds / 50_000_000
      let pixels = pool.buffer(.bgra, size) { _, bytes, stride in
        for y in 0..<size.height {
          for x in 0..<size.width * 4 {
            bytes[y * stride + x] = UInt8(truncatingIfNeeded: (x + y + Int(step) * 8) & 0x7F)
          }
        }
      }
      guard let pixels else { return }
      consumer.consume(
        VideoFrame(buffer: pixels, captureTime: start + .milliseconds(50 * step), colorSpace: .sRGB))
    }
  }

  func stopCapture() { ticker.stop() }
}

/// Microphone and loudspeaker of the application's own: a tone that is edited before it is sent, and a loudspeaker whose
/// pitch is told.
final class Studio: AudioDevice {
  enum Edit: String {
    case none, octave, silence
  }

  let microphone: any AudioSource
  private let voice = Voice()
  private let loudspeaker = Ticker()

  init() { microphone = voice }

  var edit: Edit {
    get { voice.edit.withLock { $0 } }
    set { voice.edit.withLock { $0 = newValue } }
  }

  func startPlayout(source: any PlayoutSource) {
    let pitch = Pitch("played")
    loudspeaker.start(every: 0.01) { pitch.hear(source.render(sampleCount: 480, delay: .milliseconds(5)), channels: 2) }
  }

  func stopPlayout() { loudspeaker.stop() }

  var echoCancellation: EchoCancellation { .none("Nobody hears it.") }
}

/// A tone, and what the editing makes of it.
final class Voice: AudioSource {
  let edit = Mutex(Studio.Edit.none)
  private let tone = ToneSource(frequency: 440)

  func startCapture(consumer: any AudioConsumer) {
    tell("listening")
    tone.startCapture(consumer: Editing(self, consumer))
  }

  func stopCapture() { tone.stopCapture() }

  private final class Editing: AudioConsumer {
    private let (voice, next): (Voice, any AudioConsumer)

    init(_ voice: Voice, _ next: any AudioConsumer) { (self.voice, self.next) = (voice, next) }

    func audioCaptureDidStart(_ result: Result<AudioFormat, CaptureError>) { next.audioCaptureDidStart(result) }
    func audioCaptureDidEnd(_ reason: CaptureEnd) { next.audioCaptureDidEnd(reason) }

    func consume(_ frame: AudioFrame) {
      let samples =
        switch voice.edit.withLock({ $0 }) {
        case .none: frame.samples
        // Twice the pitch: sin² is a cosine of twice the frequency.
        case .octave: frame.samples.map { 8 * ($0 * $0 - voice.tone.amplitude * voice.tone.amplitude / 2) }
        case .silence: frame.samples.map { 0 * $0 }
        }
      next.consume(AudioFrame(format: frame.format, samples: samples, captureTime: frame.captureTime))
    }
  }
}
