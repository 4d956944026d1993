import RTCMedia
import RTCNet
import RTCPage
import RTCPeer
import RTCPrimitives
import RTCSCTP
import Synchronization

/// The pointer of the source, for viewers whose page draws it. It is drawn into the picture as soon as one viewer needs
/// it there.
///
/// `CursorScheduler` decides, under the lock; messages are queued under it, so that their order is that of the events.
package final class CursorCast: PageFeature {
  /// The reports of one run of a capturer; reports of an earlier run are ignored.
  fileprivate final class Input: CursorConsumer {
    private let take: @Sendable (CursorReport, Input) -> Void

    init(_ take: @escaping @Sendable (CursorReport, Input) -> Void) { self.take = take }

    func consume(_ report: CursorReport) { take(report, self) }
  }

  fileprivate struct Viewer {
    var everything: CursorChannel?
    var positions: CursorChannel?
  }

  fileprivate struct State {
    var scheduler = CursorScheduler()
    var viewers: [String: Viewer] = [:]
    var capturer: (any CursorCapturer)?
    var input: Input?
    /// Wakes us when there is something to do.
    var alarm: (due: Timestamp, task: Task<Void, Never>)?
    var isOpen = true
  }

  private let state = Mutex(State())

  package func stop() {
    state.withLock { state in
      state.isOpen = false
      state.setCapturer(nil, nil)
      state.alarm?.task.cancel()
      state.alarm = nil
      state.viewers = [:]
    }
  }

  // MARK: - The source

  package func handle(_ event: PageEvent) {
    switch event {
    case .sourceChanged(let capturer): follow(capturer)
    // The pointer must be in the picture.
    case .recorded: perform { scheduler, now, out in scheduler.setRecorded(true, now: now, into: &out) }
    case .sourceStalled: break
    }
  }

  private func follow(_ capturer: (any VideoCapturer)?) {
    let new = (capturer as? any CursorCapturer).flatMap { $0.hasCursor ? $0 : nil }
    let input = new.map { _ in Input { [weak self] in self?.take($0, from: $1) } }
    state.withLock { $0.setCapturer(new, input) }
    perform { scheduler, now, out in scheduler.reset(now, into: &out) }
  }

  /// Whether the source has a pointer to report.
  package var isOffered: Bool { state.withLock { $0.capturer != nil } }

  private func take(_ report: CursorReport, from input: Input) {
    perform(if: { $0.input === input }) { scheduler, now, out in scheduler.take(report, now: now, into: &out) }
  }

  // MARK: - Viewers, any thread

  package func handle(_ event: PeerConnectionEvent, of connection: PeerConnection) async {
    let id = connection.id
    switch event {
    case .stateChanged(.connected):
      let hasChannels = await connection.hasDataChannels()
      perform { scheduler, now, out in scheduler.connect(id, hasChannels: hasChannels, now: now, into: &out) }
    case .stateChanged(.disconnected):
      perform { scheduler, now, out in scheduler.disconnect(id, now: now, into: &out) }
    case .stateChanged(.ended):
      state.withLock { $0.viewers[id] = nil }
      perform { scheduler, now, out in scheduler.remove(id, now: now, into: &out) }
    default: break
    }
  }

  package func accept(_ channel: DataChannel, of connection: PeerConnection) async -> Bool {
    guard let kind = CursorChannel.kind(of: channel), let clock = await connection.videoClock() else { return false }
    let id = connection.id
    let new = CursorChannel(channel, kind) { [weak self] in self?.handle($0, kind, of: id) }
    let isNew = state.withLock { state in
      guard state.isOpen else { return false }
      switch kind {
      case .everything:
        guard state.viewers[id]?.everything == nil else { return false }
        state.viewers[id, default: Viewer()].everything = new
        state.scheduler.open(id, clock: clock)
      case .positions:
        guard state.viewers[id]?.positions == nil else { return false }
        state.viewers[id, default: Viewer()].positions = new
      }
      return true
    }
    if isNew { new.begin() }
    return isNew
  }

  /// On the loop.
  private func handle(_ event: CursorChannel.Event, _ kind: CursorScheduler.Channel, of id: String) {
    switch event {
    case .said(let message):
      perform { scheduler, now, out in scheduler.handle(message, from: id, now: now, into: &out) }
    case .closed where kind == .positions: state.withLock { $0.viewers[id]?.positions = nil }
    case .closed:
      state.withLock { $0.viewers[id]?.everything = nil }
      perform { scheduler, now, out in scheduler.close(id, now: now, into: &out) }
    }
  }

  // MARK: - Work

  private typealias Step = (inout CursorScheduler, Timestamp, inout [CursorScheduler.Delivery]) -> Void

  private func perform(if condition: (borrowing State) -> Bool = { _ in true }, _ step: Step) {
    state.withLock { state in
      guard state.isOpen, condition(state) else { return }
      let now = MonotonicClock.now()
      let wasDrawn = state.scheduler.isDrawn
      var out: [CursorScheduler.Delivery] = []
      step(&state.scheduler, now, &out)
      while !out.isEmpty {
        let failed = state.deliver(out)
        out = []
        for id in failed { state.scheduler.close(id, now: now, into: &out) }
      }
      if state.scheduler.isDrawn != wasDrawn { state.capturer?.setDrawsCursor(state.scheduler.isDrawn) }
      setAlarm(&state, now)
    }
  }

  private func setAlarm(_ state: inout State, _ now: Timestamp) {
    guard let due = state.scheduler.deadline(after: now), state.alarm.map({ due < $0.due }) ?? true else { return }
    state.alarm?.task.cancel()
    let wait = max(.zero, due - now)
    state.alarm = (
      due,
      Task { [weak self] in
        guard (try? await Task.sleep(for: .nanoseconds(wait.nanoseconds))) != nil else { return }
        self?.ring(due)
      }
    )
  }

  private func ring(_ due: Timestamp) {
    state.withLock { state in
      if state.alarm?.due == due { state.alarm = nil }
    }
    perform { scheduler, now, out in scheduler.update(now, into: &out) }
  }
}

extension CursorCast.State {
  fileprivate mutating func setCapturer(_ new: (any CursorCapturer)?, _ input: CursorCast.Input?) {
    capturer?.setCursorConsumer(nil)
    capturer?.setDrawsCursor(true)
    (capturer, self.input) = (new, input)
    new?.setDrawsCursor(scheduler.isDrawn)
    new?.setCursorConsumer(input)
  }

  /// - Returns: the viewers that take no more; their channels are closed.
  fileprivate mutating func deliver(_ messages: [CursorScheduler.Delivery]) -> Set<String> {
    var failed: Set<String> = []
    for delivery in messages where !failed.contains(delivery.viewer) {
      guard let viewer = viewers[delivery.viewer] else { continue }
      let channel = delivery.channel == .positions ? viewer.positions : viewer.everything
      guard let channel, !channel.send(delivery.message) else { continue }
      channel.close()
      if delivery.channel == .everything {
        failed.insert(delivery.viewer)
        viewers[delivery.viewer]?.everything = nil
      } else {
        viewers[delivery.viewer]?.positions = nil
      }
    }
    return failed
  }
}
