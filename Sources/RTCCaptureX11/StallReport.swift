import RTCMedia
import Synchronization

/// Reports to a consumer why its source shows nothing new, and when it goes on. There may be two reasons at a time; the
/// server's silence is the one that is reported. Any thread.
final class StallReport: Sendable {
  private struct State {
    /// The server does not answer.
    var silence: String?
    /// The window is hidden.
    var hiding: String?
    var reported: String?
    var isClosed = false
  }

  private let consumer: any VideoConsumer
  private let state = Mutex(State())

  init(_ consumer: any VideoConsumer) { self.consumer = consumer }

  /// - Parameter sentence: nil: the server answers.
  func setSilence(_ sentence: String?) { change { $0.silence = sentence } }

  /// - Parameter sentence: nil: the window is shown.
  func setHiding(_ sentence: String?) { change { $0.hiding = sentence } }

  /// Nothing is reported after this returns.
  func close() { state.withLock { $0.isClosed = true } }

  /// The consumer is called under the lock, so that reports keep their order and none comes after `close`.
  private func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      body(&state)
      let sentence = state.silence ?? state.hiding
      guard !state.isClosed, sentence != state.reported else { return }
      state.reported = sentence
      if let sentence { consumer.captureDidStall(sentence) } else { consumer.captureDidResume() }
    }
  }
}
