public import RTCMedia
import Synchronization

/// The sound of several sources together, such as a microphone and the desktop; each delivers stereo at 48 kHz.
///
/// All of them must start; if one cannot, none does. One that ends later is left out.
public final class MixedAudioSource: AudioSource {
  private let sources: [any AudioSource]
  private let run = Mutex<MixRun?>(nil)

  /// - Parameter sources: one or more; nobody else may use them.
  public init(_ sources: [any AudioSource]) {
    precondition(!sources.isEmpty, "A mix needs a source.")
    self.sources = sources
  }

  /// Starts all sources; the consumer is called on their threads, one at a time. Any thread.
  public func startCapture(consumer: any AudioConsumer) {
    let new = run.withLock { run -> MixRun? in
      guard run == nil else { return nil }
      run = MixRun(consumer, inputs: sources.count)
      return run
    }
    guard let new else { return consumer.audioCaptureDidStart(.failure(.alreadyStarted)) }
    for (index, source) in sources.enumerated() { source.startCapture(consumer: MixInput(new, index)) }
  }

  /// Ends all sources; after it returns the consumer is not called any more. Any thread, any number of times.
  public func stopCapture() {
    let old = run.withLock { $0.take() }
    old?.stop()
    // Not under a lock: each waits for its thread, which may be inside of the consumer.
    for source in sources { source.stopCapture() }
  }
}

/// One source of a mix, as the source's consumer.
private final class MixInput: AudioConsumer {
  private let run: MixRun
  private let index: Int

  init(_ run: MixRun, _ index: Int) { (self.run, self.index) = (run, index) }

  func audioCaptureDidStart(_ result: Result<AudioFormat, CaptureError>) { run.started(result) }
  func consume(_ frame: AudioFrame) { run.take(frame, of: index) }
  func audioCaptureDidEnd(_ reason: CaptureEnd) { run.ended(reason, of: index) }
}

/// One run of a mix. The thread that finds nobody delivering delivers what all have added, so that the consumer is called
/// by one thread at a time and no thread waits for another.
private final class MixRun: Sendable {
  private enum Delivery {
    case start(Result<AudioFormat, CaptureError>)
    case sound(AudioFrame)
    case end(CaptureEnd)
  }

  private struct State {
    var mix = SoundMix()
    /// Sources that have not answered yet, and those that have not ended.
    var unanswered: Int
    var running: Int
    var isStarted = false
    var isOver = false
    var deliveries: [Delivery] = []
    var isDelivering = false
  }

  private let consumer: any AudioConsumer
  private let state: Mutex<State>

  init(_ consumer: any AudioConsumer, inputs: Int) {
    self.consumer = consumer
    state = Mutex(State(unanswered: inputs, running: inputs))
  }

  func started(_ result: Result<AudioFormat, CaptureError>) {
    deliver { state in
      guard !state.isStarted else { return }
      state.unanswered -= 1
      switch result {
      case .success:
        guard state.unanswered == 0 else { return }
        state.isStarted = true
        state.deliveries.append(.start(.success(.opus)))
      case .failure:
        state.isStarted = true
        state.running = 0
        state.deliveries.append(.start(result))
      }
    }
  }

  func take(_ frame: AudioFrame, of input: Int) {
    deliver { state in
      guard state.running > 0 else { return }
      state.mix.add(frame, of: input)
      guard let sound = state.mix.take(), state.isStarted else { return }
      state.deliveries.append(.sound(sound))
    }
  }

  func ended(_ reason: CaptureEnd, of input: Int) {
    deliver { state in
      guard state.running > 0 else { return }
      state.mix.remove(input)
      state.running -= 1
      if state.running == 0 { state.deliveries.append(.end(reason)) }
    }
  }

  func stop() { state.withLock { $0.isOver = true } }

  private func deliver(_ change: (inout State) -> Void) {
    let isTurn = state.withLock { state in
      change(&state)
      guard !state.isDelivering, !state.deliveries.isEmpty else { return false }
      state.isDelivering = true
      return true
    }
    guard isTurn else { return }
    while let next = nextDelivery() {
      switch next {
      case .start(let result): consumer.audioCaptureDidStart(result)
      case .sound(let frame): consumer.consume(frame)
      case .end(let reason): consumer.audioCaptureDidEnd(reason)
      }
    }
  }

  private func nextDelivery() -> Delivery? {
    state.withLock { state in
      guard !state.isOver, !state.deliveries.isEmpty else {
        state.isDelivering = false
        return nil
      }
      return state.deliveries.removeFirst()
    }
  }
}
