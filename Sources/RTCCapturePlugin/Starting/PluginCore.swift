import RTCCapture
import RTCMedia
import RTCNet
import RTCPrimitives
import Synchronization

/// One plugin for the two sources made of it: started by the first that starts, stopped by the last that stops. A plugin
/// that does not return from its `start` holds up neither.
final class PluginCore: Sendable {
  /// Starts the plugin, which pushes into the feed. Blocks for as long as that takes.
  typealias Starter = @Sendable (PluginFormat, PluginStart) throws(CaptureError) -> any RunningPlugin

  struct Session: Sendable {
    let feed: PluginFeed
    let plugin: any RunningPlugin
  }

  private enum Phase {
    case idle
    /// Started, or starting: see the start's outcome.
    case started(PluginStart)
    /// Its `start` has not returned, and no caller waits any longer.
    case hung(CaptureError)
  }

  private struct State {
    var phase = Phase.idle
    /// The number of callers that use it or wait for it.
    var users = 0
    /// Stays known after its end, so that the plugin's late pushes are recognised.
    var last: PluginStart?
  }

  let description: PluginDescription
  let settings: PluginSettings
  let report: PluginReport
  private let starter: Starter
  private let patience: PluginPatience
  /// Held while the plugin stops, so that it is not started beside that.
  private let state = Mutex(State())

  init(
    _ description: PluginDescription, settings: PluginSettings, report: PluginReport, patience: PluginPatience,
    starter: @escaping Starter
  ) {
    self.description = description
    self.settings = settings
    self.report = report
    self.patience = patience
    self.starter = starter
  }

  /// Starts the plugin unless it runs, for the thread of `run`, and waits for it as long as patience and `run` want. Each
  /// success is followed by one `leave`.
  func join(_ wanted: PluginFormat, for run: WorkerRun) throws(CaptureError) -> Session {
    let start = try state.withLock { state -> Result<PluginStart, CaptureError> in
      switch state.phase {
      case .hung(let error): return .failure(error)
      case .started(let start):
        state.users += 1
        return .success(start)
      case .idle:
        let start = PluginStart(deadline: MonotonicClock.now() + patience.start)
        do throws(SystemError) { try launch(start, wanted) } catch { return .failure(CaptureError(error)) }
        state = State(phase: .started(start), users: 1, last: start)
        return .success(start)
      }
    }.get()
    return Session(feed: start.feed, plugin: try outcome(of: start, for: run))
  }

  func leave() {
    state.withLock { state in
      state.users -= 1
      guard state.users == 0, case .started(let start) = state.phase else { return }
      state.phase = .idle
      guard case .success(let plugin) = start.outcome else { return }
      start.feed.close()
      plugin.stop()
    }
  }

  // MARK: - Starting

  private func launch(_ start: PluginStart, _ wanted: PluginFormat) throws(SystemError) {
    _ = try NamedThread(name: "rtc-plugin-up") { [self] in
      let outcome: PluginStart.Outcome
      do throws(CaptureError) { outcome = .success(try starter(wanted, start)) } catch { outcome = .failure(error) }
      if case .failure = outcome { start.feed.close() }
      let isWanted = state.withLock { state in
        guard start.resolve(outcome) else { return false }
        if case .failure = outcome { state = State() }
        return true
      }
      if isWanted { return }
      if case .success(let plugin) = outcome { plugin.stop() }
      // Another attempt is possible, now that it has returned.
      state.withLock { $0.phase = .idle }
    }
  }

  private func outcome(of start: PluginStart, for run: WorkerRun) throws(CaptureError) -> any RunningPlugin {
    start.wake(run)
    var deadline = start.deadline
    var isStopping = false
    while true {
      if let outcome = start.outcome { return try outcome.get() }
      if run.isStopped, !isStopping {
        isStopping = true
        deadline = min(deadline, MonotonicClock.now() + patience.stop)
      }
      // Another source's time limit may be longer: only this source gives up.
      if isStopping, handOver(start) { throw .unavailable("The plugin was stopped while it started.") }
      if MonotonicClock.now() >= deadline { abandon(start, isStopping) } else { run.wait(until: deadline) }
    }
  }

  /// True if another caller waits for the start, too.
  private func handOver(_ start: PluginStart) -> Bool {
    state.withLock { state in
      guard case .started(let present) = state.phase, present === start, state.users > 1 else { return false }
      state.users -= 1
      return true
    }
  }

  private func abandon(_ start: PluginStart, _ isStopping: Bool) {
    let wait = isStopping ? "\(patience.stop.words) after the end of the cast" : "within \(patience.start.words)"
    let error = CaptureError.unavailable(
      "The plugin \(description.name) did not return from its `start` \(wait), and was given up; its author can mend this."
    )
    let isAbandoned = state.withLock { state in
      guard start.resolve(.failure(error)) else { return false }
      state = State(phase: .hung(error), users: 0, last: start)
      return true
    }
    guard isAbandoned else { return }
    start.abandon()
    // Otherwise the caller gets the error.
    if isStopping { report.tell(error.sentence) }
  }
}

/// Counts a plugin's events and reports them to the user. Any thread.
final class PluginReport: Sendable {
  private let counts = Mutex(PluginStatistics())
  private let onNotice: @Sendable (String) -> Void
  let name: String

  init(name: String, onNotice: @escaping @Sendable (String) -> Void) {
    self.name = name
    self.onNotice = onNotice
  }

  var statistics: PluginStatistics { counts.withLock { $0 } }

  func count(_ change: (inout PluginStatistics) -> Void) { counts.withLock { change(&$0) } }

  func note(_ fault: PluginFault) {
    let isFirst = counts.withLock { counts in
      counts.faults[fault, default: 0] += 1
      return counts.faults[fault] == 1
    }
    if isFirst { onNotice(fault.sentence(plugin: name)) }
  }

  func tell(_ sentence: String) { onNotice(sentence) }
}

/// A plugin that was started, in this process or in another, and pushes into a feed.
protocol RunningPlugin: AnyObject, Sendable {
  /// The format that it announced.
  var format: PluginFormat { get }

  /// Ends it; nothing is taken after this has returned.
  func stop()
}
