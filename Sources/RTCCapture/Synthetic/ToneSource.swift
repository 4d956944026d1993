import Glibc
public import RTCMedia
import RTCNet
package import RTCPrimitives

/// A source that plays one tone in stereo at 48 kHz, in real time on its own thread.
///
/// The samples are exact to their number: the tone never breaks, and a block's capture time follows from how many came
/// before it. Only when the machine was stopped for longer than a second is sound left out.
public final class ToneSource: AudioSource {
  /// The times at which the tone sounds.
  public enum Pattern: Hashable, Sendable {
    /// Always.
    case steady
    /// 50 ms from each whole second of the monotonic clock on, silence between.
    case beeps
  }

  /// Hertz, 20…20 000.
  public let frequency: Double
  /// The amplitude of the tone, 0…1.
  public let amplitude: Float
  /// The times at which the tone sounds.
  public let pattern: Pattern
  private let thread = WorkerThread()

  /// - Parameters:
  ///   - frequency: what lies outside the range is moved to its end.
  ///   - amplitude: the same.
  public init(frequency: Double, amplitude: Float = 0.25, pattern: Pattern = .steady) {
    self.frequency = frequency.isNaN ? 440 : max(20, min(frequency, 20_000))
    self.amplitude = amplitude.isNaN ? 0 : max(0, min(amplitude, 1))
    self.pattern = pattern
  }

  /// Starts to generate. See `AudioSource.startCapture(consumer:)`.
  public func startCapture(consumer: any AudioConsumer) {
    let wave = ToneWave(frequency: frequency, amplitude: amplitude, pattern: pattern)
    do throws(CaptureError) {
      try thread.startCapture(name: "rtc-tone") { run in ToneRun(wave: wave, run: run).deliver(to: consumer) }
    } catch {
      consumer.audioCaptureDidStart(.failure(error))
    }
  }

  /// Ends the capture and waits for its thread, except inside a callback.
  public func stopCapture() { thread.stop() }
}

/// The tone as a function of the sample's number, so that it can be looked at without waiting for it.
package struct ToneWave: Sendable {
  package static let sampleRate: Int64 = 48_000
  package static let blockSampleCount: Int64 = 480
  private static let beepLength = TimeDelta.milliseconds(50)

  private let frequency: Double
  private let amplitude: Float
  private let pattern: ToneSource.Pattern

  package init(frequency: Double, amplitude: Float, pattern: ToneSource.Pattern) {
    self.frequency = frequency
    self.amplitude = amplitude
    self.pattern = pattern
  }

  /// Interleaved samples of both channels.
  /// - Parameters:
  ///   - first: the number of the first.
  ///   - start: the time of number 0.
  package func samples(from first: Int64, count: Int64, start: Timestamp) -> [Float] {
    var result: [Float] = []
    result.reserveCapacity(Int(count) * 2)
    for number in first..<first + count {
      let value = isHeard(Self.time(of: number, start: start)) ? amplitude * Float(sin(phase(number))) : 0
      result.append(value)
      result.append(value)
    }
    return result
  }

  package static func time(of sample: Int64, start: Timestamp) -> Timestamp {
    let (seconds, rest) = sample.quotientAndRemainder(dividingBy: sampleRate)
    return start + .seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / sampleRate)
  }

  /// Whole turns are taken off before the sine: it stays exact for days.
  private func phase(_ number: Int64) -> Double {
    let (seconds, rest) = number.quotientAndRemainder(dividingBy: Self.sampleRate)
    let fraction = frequency - frequency.rounded(.down)
    let turns = frequency * Double(rest) / Double(Self.sampleRate) + fraction * Double(seconds)
    return 2 * .pi * (turns - turns.rounded(.down))
  }

  private func isHeard(_ time: Timestamp) -> Bool {
    switch pattern {
    case .steady: true
    case .beeps: time.nanoseconds % 1_000_000_000 < Self.beepLength.nanoseconds
    }
  }
}

/// One run of the source, on its thread.
private struct ToneRun {
  let wave: ToneWave
  let run: WorkerRun

  private static let maximumLag = TimeDelta.seconds(1)

  func deliver(to consumer: any AudioConsumer) {
    let format = AudioFormat(sampleRate: Int(ToneWave.sampleRate), channels: 2)
    consumer.audioCaptureDidStart(.success(format))
    let start = MonotonicClock.now()
    var first: Int64 = 0
    while !run.isStopped {
      let now = MonotonicClock.now()
      let end = ToneWave.time(of: first + ToneWave.blockSampleCount, start: start)
      if now < end {
        run.wait(until: end)
        continue
      }
      if now - end > Self.maximumLag {
        first += ((now - end).nanoseconds / 10_000_000) * ToneWave.blockSampleCount
        continue
      }
      let samples = wave.samples(from: first, count: ToneWave.blockSampleCount, start: start)
      consumer.consume(
        AudioFrame(format: format, samples: samples, captureTime: ToneWave.time(of: first, start: start)))
      first += ToneWave.blockSampleCount
    }
  }
}
