import RTCCapture
import RTCMedia
import RTCPrimitives
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct ToneSourceTests {
  @Test func `what a tone source delivers is in order, exact to the sample, and in step with the clock`() async throws {
    let listener = Listener(count: 20)
    let source = ToneSource(frequency: 440)
    source.startCapture(consumer: listener)
    let frames = await listener.frames()
    source.stopCapture()
    #expect(listener.format == AudioFormat(sampleRate: 48_000, channels: 2))
    let first = try #require(frames.first).captureTime
    for (index, frame) in frames.enumerated() {
      #expect(frame.sampleCount == 480 && frame.samples.count == 960)
      #expect(frame.captureTime - first == .milliseconds(10) * Int64(index))
    }
    let wave = ToneWave(frequency: 440, amplitude: 0.25, pattern: .steady)
    #expect(frames.flatMap(\.samples) == wave.samples(from: 0, count: 480 * 20, start: .zero))
  }

  @Test func `it starts once, stops twice, and starts again`() async {
    let source = ToneSource(frequency: 440)
    source.stopCapture()
    let first = Listener(count: 1)
    source.startCapture(consumer: first)
    _ = await first.frames()
    let second = Listener(count: 1)
    source.startCapture(consumer: second)
    #expect(second.failure == .alreadyStarted)
    source.stopCapture()
    source.stopCapture()
    let third = Listener(count: 3)
    source.startCapture(consumer: third)
    #expect(await third.frames().count == 3)
    source.stopCapture()
  }

  @Test func `a consumer may stop it from inside a callback`() async {
    let source = ToneSource(frequency: 440)
    let listener = Listener(count: 1) { source.stopCapture() }
    source.startCapture(consumer: listener)
    #expect(await listener.frames().count == 1)
    source.stopCapture()
    #expect(listener.delivered == 1)
  }

  @Test(arguments: [20.0, 440, 997.3, 20_000]) func `the frequency is what was asked for, and has no seams`(
    _ frequency: Double
  ) {
    let wave = ToneWave(frequency: frequency, amplitude: 0.5, pattern: .steady)
    // Across a whole second, where the phase is taken back.
    let block = wave.samples(from: 24_000, count: 48_000, start: .zero)
    let left = stride(from: 0, to: block.count, by: 2).map { block[$0] }
    let crossings = zip(left, left.dropFirst()).count { $0 < 0 && $1 >= 0 }
    #expect(abs(Double(crossings) - frequency) <= 1.5)
    #expect(left.allSatisfy { abs($0) <= 0.5 })
    // No step is larger than the sine's own slope.
    let slope = Float(2 * Double.pi * frequency / 48_000 * 0.5)
    #expect(zip(left, left.dropFirst()).allSatisfy { abs($0 - $1) <= slope * 1.001 })
    #expect(stride(from: 0, to: block.count, by: 2).allSatisfy { block[$0] == block[$0 + 1] })
  }

  @Test func `a beep sounds for 50 ms from each whole second on`() {
    let wave = ToneWave(frequency: 1_000, amplitude: 0.5, pattern: .beeps)
    let start = Timestamp.zero + .milliseconds(12_345)
    let samples = wave.samples(from: 0, count: 96_000, start: start)
    let heard = stride(from: 0, to: samples.count, by: 2).filter { samples[$0] != 0 }.map { $0 / 2 }
    #expect(heard.allSatisfy { (31_440..<31_440 + 2_400).contains($0 % 48_000) })
    #expect(heard.count > 2 * 2_300 && heard.count <= 2 * 2_400)
  }

  @Test func `what cannot be heard is moved into the range`() {
    #expect(ToneSource(frequency: 1).frequency == 20 && ToneSource(frequency: 1e9).frequency == 20_000)
    #expect(ToneSource(frequency: .nan).frequency == 440 && ToneSource(frequency: 440, amplitude: 7).amplitude == 1)
  }
}

/// Takes a number of frames, then lets the test go on.
private final class Listener: AudioConsumer {
  private struct State {
    var format: AudioFormat?
    var failure: CaptureError?
    var frames: [AudioFrame] = []
  }

  private let state = Mutex(State())
  private let count: Int
  private let onFrame: @Sendable () -> Void
  private let (done, finish) = AsyncStream<Void>.makeStream()

  init(count: Int, onFrame: @escaping @Sendable () -> Void = {}) {
    self.count = count
    self.onFrame = onFrame
  }

  var format: AudioFormat? { state.withLock { $0.format } }
  var failure: CaptureError? { state.withLock { $0.failure } }
  var delivered: Int { state.withLock { $0.frames.count } }

  func audioCaptureDidStart(_ result: Result<AudioFormat, CaptureError>) {
    state.withLock { state in
      switch result {
      case .success(let format): state.format = format
      case .failure(let error): state.failure = error
      }
    }
  }

  func consume(_ frame: AudioFrame) {
    let isLast = state.withLock { state in
      state.frames.append(frame)
      return state.frames.count == count
    }
    if isLast { finish.finish() }
    onFrame()
  }

  func audioCaptureDidEnd(_ reason: CaptureEnd) { finish.finish() }

  /// The first frames asked for.
  func frames() async -> [AudioFrame] {
    for await _ in done {}
    return state.withLock { Array($0.frames.prefix(count)) }
  }
}
