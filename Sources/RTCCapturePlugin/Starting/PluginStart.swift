import RTCCapture
import RTCMedia
import RTCNet
package import RTCPrimitives
import Synchronization

/// The time limits for a plugin's functions.
package struct PluginPatience: Hashable, Sendable {
  /// The limit for its entry function, and for its `start`, while a caller waits.
  package var start: TimeDelta
  /// The limit for its `stop`, and for a `start` without a waiting caller.
  package var stop: TimeDelta

  package init(start: TimeDelta = .seconds(10), stop: TimeDelta = .seconds(2)) {
    self.start = start
    self.stop = stop
  }
}

extension TimeDelta {
  /// Such as "2 s" or "0.3 s".
  var words: String { nanoseconds % 1_000_000_000 == 0 ? "\(nanoseconds / 1_000_000_000) s" : "\(seconds) s" }
}

/// One start of a plugin, on a thread of its own. It is over when the plugin's `start` has returned or no caller waits
/// any longer, whichever is first. Any thread.
final class PluginStart: Sendable {
  typealias Outcome = Result<any RunningPlugin, CaptureError>

  private struct State {
    var outcome: Outcome?
    var waiting: [WorkerRun] = []
    var isAbandoned = false
    var onAbandon: (@Sendable () -> Void)?
  }

  let feed = PluginFeed()
  /// When patience ends.
  let deadline: Timestamp
  private let state = Mutex(State())

  init(deadline: Timestamp) { self.deadline = deadline }

  var outcome: Outcome? { state.withLock { $0.outcome } }

  /// `run` is woken when this is over.
  func wake(_ run: WorkerRun) { state.withLock { $0.waiting.append(run) } }

  /// False when it was over before; then nothing changes.
  func resolve(_ outcome: Outcome) -> Bool {
    let waiting = state.withLock { state -> [WorkerRun]? in
      guard state.outcome == nil else { return nil }
      state.outcome = outcome
      defer { state.waiting = [] }
      return state.waiting
    }
    for run in waiting ?? [] { run.wake() }
    return waiting != nil
  }

  /// Abandons the start: nothing is accepted from it, and it is ended if possible.
  func abandon() {
    feed.close()
    let body = state.withLock { state in
      state.isAbandoned = true
      return state.onAbandon
    }
    body?()
  }

  /// `body` is called when this is abandoned, or now when it is already.
  func whenAbandoned(_ body: @escaping @Sendable () -> Void) {
    let isAbandoned = state.withLock { state in
      state.onAbandon = body
      return state.isAbandoned
    }
    if isAbandoned { body() }
  }
}
