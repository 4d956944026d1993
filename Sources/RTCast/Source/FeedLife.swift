import RTCMedia
import Synchronization

/// Where a feed stands between the start of its source and its end, so that a source that was replaced is not heard any
/// more, whatever its thread still has to say.
final class FeedLife<Format: Sendable>: Sendable {
  typealias Answer = Result<Format, CaptureError>

  private enum State {
    /// Asked to start; the source has not answered yet. The continuation is resumed once.
    case starting(CheckedContinuation<Answer, Never>)
    case live(Format)
    case over
  }

  /// Held while something is passed on, so that `close` returns when the last is through.
  private let state: Mutex<State>

  /// - Parameter start: waits for the source's answer.
  init(_ start: CheckedContinuation<Answer, Never>) { state = Mutex(.starting(start)) }

  /// A source that was stopped before it could start says nothing.
  deinit { close() }

  /// Nothing passes after this. Waits for what is under way.
  func close() {
    let before = state.withLock { state in
      defer { state = .over }
      return state
    }
    if case .starting(let start) = before {
      start.resume(returning: .failure(.unavailable("The source was stopped before it had started.")))
    }
  }

  /// Takes the source's answer.
  /// - Parameter adopt: called when it runs, before whoever waits is told and before the first frame, which of a resting
  ///   screen is the only one.
  func didStart(_ result: Answer, adopt: () -> Void) {
    let start = state.withLock { state -> CheckedContinuation<Answer, Never>? in
      guard case .starting(let start) = state else { return nil }
      state = if case .success(let format) = result { .live(format) } else { .over }
      return start
    }
    guard let start else { return }
    if case .success = result { adopt() }
    start.resume(returning: result)
  }

  /// What the source delivers; nil unless it is live.
  var format: Format? {
    state.withLock { if case .live(let format) = $0 { format } else { nil } }
  }

  /// Runs `deliver` while the feed is live.
  func pass(_ deliver: () -> Void) {
    state.withLock { if case .live = $0 { deliver() } }
  }

  /// The source ended by itself; true when it was live.
  func didEnd() -> Bool {
    state.withLock { state in
      defer { state = .over }
      return if case .live = state { true } else { false }
    }
  }
}
