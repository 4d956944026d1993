import RTCEngine
import RTCMedia
import RTCNet
import RTCPrimitives
import Synchronization

/// What the decoding thread and everybody else share.
final class VideoPlayoutShare: Sendable {
  enum Life {
    case running, ending, ended
  }

  struct Door: Sendable {
    var life = Life.running
    var backlog = FrameBacklog()
    var sinks: [any VideoSink] = []
    /// Those that have not been given the present picture.
    var newSinks: [any VideoSink] = []
    var hasPaused = false
    var addedDelay = TimeDelta.zero
    var statistics = VideoPlayoutStatistics()
    var shown: VideoPlayout.Shown?

    /// Those of the presenter, and what never got there.
    mutating func publish(_ statistics: VideoPlayoutStatistics) {
      self.statistics = statistics
      self.statistics.framesReceived += backlog.dropped
      self.statistics.framesDropped += backlog.dropped
    }
  }

  let event: WakeEvent
  let requestKeyFrame: @Sendable () -> Void
  private let door = Mutex(Door())

  init(event: WakeEvent, requestKeyFrame: @escaping @Sendable () -> Void) {
    self.event = event
    self.requestKeyFrame = requestKeyFrame
  }

  func look<Result>(_ body: (inout sending Door) -> sending Result) -> sending Result { door.withLock(body) }

  /// Changes something that the thread is to look at.
  func change<Result>(_ body: (inout sending Door) -> sending Result) -> sending Result {
    defer { event.signal() }
    return door.withLock(body)
  }

  func receive(_ frame: ReceivedFrame) {
    let isFirst = door.withLock { door in
      guard case .running = door.life else { return false }
      defer { door.backlog.append(frame) }
      return door.backlog.isEmpty
    }
    // With others before it, the thread is awake or about to be.
    if isFirst { event.signal() }
  }
}

/// The decoding thread.
final class VideoPlayoutRun {
  private struct News {
    var frames: [ReceivedFrame]
    var newSinks: [any VideoSink]
    var addedDelay: TimeDelta
    var hasPaused: Bool
    /// So much came while a sink was busy that some had to go.
    var lacksKeyFrame: Bool
  }

  private let share: VideoPlayoutShare
  private let presenter: VideoPresenter
  private let clock: @Sendable () -> Timestamp
  /// What is shown now.
  private var current: VideoFrame?

  init(_ share: VideoPlayoutShare, _ presenter: VideoPresenter, _ clock: @escaping @Sendable () -> Timestamp) {
    self.share = share
    self.presenter = presenter
    self.clock = clock
  }

  func run() {
    defer { tellEnd() }
    do throws(SystemError) {
      var poller = try Poller()
      try poller.add(share.event.descriptor, token: 0)
      present(&poller)
    } catch {
      // The process has no descriptors left: nothing is shown, and the sinks are told.
    }
  }

  private func present(_ poller: inout Poller) {
    while takeOver() {
      switch presenter.step() {
      case .show(let frame, let timestamp): show(frame, timestamp)
      case .requestKeyFrame: share.requestKeyFrame()
      case .wait(let moment):
        let statistics = presenter.statistics
        share.look { $0.publish(statistics) }
        _ = poller.wait(until: moment)
        share.event.clear()
      }
    }
  }

  /// Takes what has come since; false when it is over.
  private func takeOver() -> Bool {
    let current = current
    let news = share.look { door -> News? in
      guard case .running = door.life else { return nil }
      var news = News(
        frames: door.backlog.takeAll(), newSinks: [], addedDelay: door.addedDelay, hasPaused: door.hasPaused,
        lacksKeyFrame: door.backlog.needsKeyFrame)
      if current != nil { swap(&news.newSinks, &door.newSinks) }
      door.hasPaused = false
      return news
    }
    guard let news else { return false }
    if news.hasPaused { presenter.notePause() }
    presenter.addedDelay = news.addedDelay
    if news.lacksKeyFrame { share.requestKeyFrame() }
    for frame in news.frames { presenter.insert(frame) }
    if let current { for sink in news.newSinks { sink.show(current) } }
    return true
  }

  private func show(_ frame: VideoFrame, _ timestamp: RTPTimestamp) {
    current = frame
    let shown = VideoPlayout.Shown(timestamp: timestamp, time: clock())
    let statistics = presenter.statistics
    let sinks = share.look { door in
      door.shown = shown
      door.publish(statistics)
      door.newSinks = []
      return door.sinks
    }
    for sink in sinks { sink.show(frame) }
  }

  private func tellEnd() {
    let statistics = presenter.statistics
    let sinks = share.look { door in
      defer { (door.sinks, door.newSinks) = ([], []) }
      door.life = .ended
      door.publish(statistics)
      door.backlog.removeAll()
      return door.sinks
    }
    for sink in sinks { sink.videoDidEnd() }
  }
}
