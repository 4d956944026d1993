import Dispatch
import Glibc
import RTCMedia
import Synchronization

/// A consumer that a test waits for. Waiting ends after 20 seconds, so that a test fails and does not hang.
final class SoundCollector: AudioConsumer {
  struct Heard {
    var starts: [Result<AudioFormat, CaptureError>] = []
    var frames: [AudioFrame] = []
    var ends: [CaptureEnd] = []
    var notices: [String] = []
    /// The newest sound of the left channel, a tenth of a second at most.
    var newest: [Float] = []

    /// The newest tenth of a second is this tone, and nothing else to speak of.
    func isTone(_ frequency: Double) -> Bool {
      newest.count == SoundCollector.window && SoundCollector.share(of: frequency, in: newest) > 0.95
    }

    /// All that was heard, of the left channel.
    var left: [Float] {
      frames.flatMap { frame in stride(from: 0, to: frame.samples.count, by: 2).map { frame.samples[$0] } }
    }
  }

  static let window = 4_800
  private let heard = Mutex(Heard())
  private let news = DispatchSemaphore(value: 0)
  private let onFrame: @Sendable () -> Void

  init(onFrame: @escaping @Sendable () -> Void = {}) { self.onFrame = onFrame }

  func audioCaptureDidStart(_ result: Result<AudioFormat, CaptureError>) { note { $0.starts.append(result) } }

  func consume(_ frame: AudioFrame) {
    note { heard in
      heard.frames.append(frame)
      heard.newest += stride(from: 0, to: frame.samples.count, by: frame.format.channels).map { frame.samples[$0] }
      heard.newest.removeFirst(max(0, heard.newest.count - Self.window))
    }
    onFrame()
  }

  func audioCaptureDidEnd(_ reason: CaptureEnd) { note { $0.ends.append(reason) } }

  func notice(_ sentence: String) { note { $0.notices.append(sentence) } }

  var now: Heard { heard.withLock { $0 } }

  /// Forgets the sound so far.
  func clear() {
    note {
      $0.frames = []; $0.newest = []
    }
  }

  /// Waits until `condition` holds; false when it does not in time.
  func wait(until condition: (Heard) -> Bool) -> Bool {
    let deadline = DispatchTime.now() + .seconds(20)
    while !heard.withLock({ condition($0) }) {
      if news.wait(timeout: deadline) == .timedOut { return false }
    }
    return true
  }

  func hears(_ frequency: Double) -> Bool { wait { $0.isTone(frequency) } }

  private func note(_ change: (inout Heard) -> Void) {
    heard.withLock { change(&$0) }
    news.signal()
  }

  /// The share of a tone in the power of a sound at 48 kHz, 0…1; 0 for silence.
  static func share(of frequency: Double, in sound: some Collection<Float>) -> Double {
    var (sine, cosine, power) = (0.0, 0.0, 0.0)
    for (index, value) in sound.enumerated() {
      let angle = 2 * .pi * frequency * Double(index) / 48_000
      sine += Double(value) * sin(angle)
      cosine += Double(value) * cos(angle)
      power += Double(value) * Double(value)
    }
    let count = Double(sound.count)
    guard power / count > 1e-4 else { return 0 }
    return 2 * (sine * sine + cosine * cosine) / (count * power)
  }
}
