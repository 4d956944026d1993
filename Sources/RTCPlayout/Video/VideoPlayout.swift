package import RTCEngine
package import RTCMedia
package import RTCNet
package import RTCPrimitives
import Synchronization

/// One received video: takes complete frames on the connection's thread, decodes them on a thread of its own and passes
/// each to its sinks at its time. Ends with `end`, or with the last reference.
package final class VideoPlayout: Sendable {
  /// A moment of the sender's that is seen at a moment of ours: what lip sync compares.
  package struct Shown: Hashable, Sendable {
    /// At 90 kHz.
    package var timestamp: RTPTimestamp
    /// The time at which it was passed to the sinks, by our clock.
    package var time: Timestamp
  }

  private enum Life {
    case running, ending, ended
  }

  /// The state shared with the decoding thread, locked for moments, never while decoding or showing.
  private struct State: Sendable {
    var life = Life.running
    var presenter: VideoPresenter
    var sinks: [any VideoSink] = []
    /// Sinks that have not received the present frame.
    var newSinks: [any VideoSink] = []
    var shown: Shown?
  }

  /// Held by the decoding thread too, which must not keep the playout alive.
  private final class Shared: Sendable {
    let state: Mutex<State>
    let event: WakeEvent

    init(_ presenter: VideoPresenter) throws(SystemError) {
      event = try WakeEvent()
      state = Mutex(State(presenter: presenter))
    }

    /// Changes something that the thread is to look at.
    func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
      defer { event.signal() }
      return state.withLock { body(&$0) }
    }
  }

  private let shared: Shared

  /// Starts the decoding thread.
  ///
  /// - Parameters:
  ///   - decoders: the decoders, by codec; used on that thread only.
  ///   - budget: the pixels that may be decoded; nil: any number.
  ///   - requestKeyFrame: called on the decoding thread when a key frame is needed; must not wait.
  ///   - whenOverBudget: called once on the decoding thread, if a picture exceeds the rest of the budget.
  /// - Throws: if the system has no thread or no descriptor left.
  package init(
    decoders: [VideoCodec: VideoDecoderFactory], budget: PictureBudget? = nil,
    requestKeyFrame: @escaping @Sendable () -> Void, whenOverBudget: @escaping @Sendable () -> Void = {}
  ) throws(SystemError) {
    let shared = try Shared(VideoPresenter(codecs: Set(decoders.keys)))
    self.shared = shared
    _ = try NamedThread(name: "decode") {
      Self.present(shared, FrameDecoder(decoders, budget: budget, whenOverBudget: whenOverBudget), requestKeyFrame)
    }
  }

  deinit { end() }

  // MARK: In

  /// Takes a whole frame whose `received` is read from `MonotonicClock`; in decoding order, from the connection's thread.
  /// Returns at once.
  package func receive(_ frame: ReceivedFrame) {
    let isFirst = shared.state.withLock { state in
      guard case .running = state.life else { return false }
      return state.presenter.insert(frame)
    }
    // With others before it, the thread is awake or about to be.
    if isFirst { shared.event.signal() }
  }

  /// The sender has paused or muted the video: the time until the next frame is no freeze.
  package func notePause() { shared.state.withLock { $0.presenter.notePause() } }

  /// Ends the video; waiting frames are not shown. The sinks are notified soon, on the decoding thread.
  package func end() {
    shared.change { state in if case .running = state.life { state.life = .ending } }
  }

  // MARK: Settings

  /// Adds a sink, which gets the present frame at once. After the end it is notified at once.
  package func add(_ sink: any VideoSink) {
    let isOver = shared.change { state in
      if case .ended = state.life { return true }
      state.sinks.append(sink)
      state.newSinks.append(sink)
      return false
    }
    if isOver { sink.videoDidEnd() }
  }

  /// A call that is under way may be the sink's last.
  package func remove(_ sink: any VideoSink) {
    shared.state.withLock { state in
      state.sinks.removeAll { $0 === sink }
      state.newSinks.removeAll { $0 === sink }
    }
  }

  /// Added to the delay that the network asks for, to wait for the sound; 0…2 s.
  package var addedDelay: TimeDelta {
    get { shared.state.withLock { $0.presenter.addedDelay } }
    set { shared.state.withLock { $0.presenter.addedDelay = newValue } }
  }

  // MARK: Reading

  /// The statistics of the video so far.
  package var statistics: VideoPlayoutStatistics { shared.state.withLock { $0.presenter.statistics } }

  /// The last frame passed to the sinks; nil before the first.
  package var lastShown: Shown? { shared.state.withLock { $0.shown } }

  // MARK: - The decoding thread

  private static func present(
    _ shared: Shared, _ decoder: consuming FrameDecoder, _ requestKeyFrame: @Sendable () -> Void
  ) {
    defer { tellEnd(shared) }
    // If the process has no descriptors left, nothing is shown, and the sinks are notified.
    guard let poller = try? Poller(), (try? poller.add(shared.event.descriptor, token: 0)) != nil else { return }
    /// The present frame.
    var current: VideoFrame?
    while let (step, newSinks) = next(shared, isShowing: current != nil) {
      if let current { for sink in newSinks { sink.show(current) } }
      switch step {
      case .decode(let frame, let isFirst):
        if isFirst { decoder.prepare(for: frame, anew: true) }
        let began = MonotonicClock.now()
        let outcome = decoder.decode(frame, anew: false)
        let ended = MonotonicClock.now()
        shared.state.withLock { $0.presenter.noteDecoded(frame, outcome, began: began, ended: ended) }
      case .show(let frame, let timestamp):
        current = frame
        show(frame, timestamp, shared)
      case .requestKeyFrame: requestKeyFrame()
      case .wait(let moment):
        _ = poller.wait(until: moment)
        shared.event.clear()
      }
    }
  }

  /// The next action, and the sinks that need the present frame; nil when the video has ended.
  private static func next(_ shared: Shared, isShowing: Bool) -> (VideoPresenter.Step, [any VideoSink])? {
    let now = MonotonicClock.now()
    return shared.state.withLock { state in
      guard case .running = state.life else { return nil }
      var newSinks: [any VideoSink] = []
      if isShowing { swap(&newSinks, &state.newSinks) }
      return (state.presenter.step(now), newSinks)
    }
  }

  private static func show(_ frame: VideoFrame, _ timestamp: RTPTimestamp, _ shared: Shared) {
    let shown = Shown(timestamp: timestamp, time: MonotonicClock.now())
    let sinks = shared.state.withLock { state in
      state.shown = shown
      state.newSinks = []
      return state.sinks
    }
    for sink in sinks { sink.show(frame) }
  }

  private static func tellEnd(_ shared: Shared) {
    let sinks = shared.state.withLock { state in
      defer { (state.sinks, state.newSinks) = ([], []) }
      state.life = .ended
      state.presenter.removeAll()
      return state.sinks
    }
    for sink in sinks { sink.videoDidEnd() }
  }
}
