package import RTCMedia
import RTCNet
import RTCPrimitives
import Synchronization

/// Captures a source that may not be there yet, and may go and come back: a screen before the login.
///
/// The consumer sees one source that starts at once and never ends. While there is nothing to capture, it is told the
/// reason as a stall. The size of the format is 0 × 0 if the source was not there at the start. Each time that the source appears,
/// its first frame is whole.
package final class WaitingCapturer: CursorCapturer {
  private struct State {
    /// The capturer of the source that is there.
    var capturer: (any VideoCapturer)?
    var cursorConsumer: (any CursorConsumer)?
    var drawsCursor = true

    func configureCursor() {
      guard let capturer = capturer as? any CursorCapturer else { return }
      capturer.setCursorConsumer(cursorConsumer)
      capturer.setDrawsCursor(drawsCursor)
    }
  }

  private let surroundings: any CaptureSurroundings
  private let thread = WorkerThread()
  private let state = Mutex(State())

  /// Whether the source will show a pointer.
  package let hasCursor: Bool
  package let isScreencast: Bool

  package init(_ surroundings: any CaptureSurroundings, hasCursor: Bool, isScreencast: Bool = true) {
    self.surroundings = surroundings
    (self.hasCursor, self.isScreencast) = (hasCursor, isScreencast)
  }

  /// None is known before the source is there.
  package var supportedFormats: [VideoFormat] { [] }

  /// Waits for the source on a thread of its own, and captures it whenever it is there. Any thread may call this.
  package func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    let surroundings = surroundings
    // The thread ends with the capturer.
    let follow: @Sendable (any VideoCapturer) -> Void = { [weak self] in self?.follow($0) }
    do throws(CaptureError) {
      try thread.startCapture(name: "rtc-wait") { run in
        WaitingRun(surroundings, format, consumer, run, follow: follow).perform()
      }
    } catch {
      consumer.captureDidStart(.failure(error))
    }
  }

  package func stopCapture() {
    // First the thread that starts capturers. It never waits for the consumer, which may be the caller.
    thread.stop()
    let last = state.withLock { state in
      defer { state.capturer = nil }
      return state.capturer
    }
    last?.stopCapture()
  }

  private func follow(_ capturer: any VideoCapturer) {
    state.withLock { state in
      state.capturer = capturer
      state.configureCursor()
    }
  }

  package func setCursorConsumer(_ consumer: (any CursorConsumer)?) {
    state.withLock { state in
      state.cursorConsumer = consumer
      state.configureCursor()
    }
  }

  package func setDrawsCursor(_ isDrawn: Bool) {
    state.withLock { state in
      state.drawsCursor = isDrawn
      state.configureCursor()
    }
  }
}

/// One run of a waiting capturer. It is the consumer of each capturer in turn, of which at most one runs.
private final class WaitingRun: VideoConsumer {
  private enum Event {
    case started
    case refused(String)
    case ended(String)
  }

  private struct State {
    var events: [Event] = []
    /// Whether the consumer was told that the source has started.
    var hasStarted = false
    /// Whether there was a picture.
    var hasDelivered = false
    /// Why there is nothing to capture.
    var absence: String?
    /// Why the source that is there delivers nothing.
    var stall: String?
    var reported: String?

    mutating func takeEvents() -> [Event] {
      defer { events = [] }
      return events
    }
  }

  private let surroundings: any CaptureSurroundings
  private let format: VideoFormat
  private let consumer: any VideoConsumer
  private let run: WorkerRun
  private let follow: @Sendable (any VideoCapturer) -> Void
  private let state = Mutex(State())
  /// Whether the present capturer has delivered nothing yet.
  private let isFirstFrame = Atomic(true)

  init(
    _ surroundings: any CaptureSurroundings, _ format: VideoFormat, _ consumer: any VideoConsumer, _ run: WorkerRun,
    follow: @escaping @Sendable (any VideoCapturer) -> Void
  ) {
    (self.surroundings, self.format, self.consumer, self.run) = (surroundings, format, consumer, run)
    self.follow = follow
  }

  // MARK: The thread that waits

  func perform() {
    var wait = CaptureWait(now: MonotonicClock.now())
    var capturer: (any VideoCapturer)?
    /// Whether the last report was the end of a source, which says more than that there is none now.
    var hasEnded = false
    for descriptor in surroundings.descriptors { try? run.watch(descriptor) }
    while !run.isStopped {
      let now = MonotonicClock.now()
      for event in state.withLock({ $0.takeEvents() }) {
        switch event {
        case .started: wait.started(now: now)
        case .refused(let reason), .ended(let reason):
          // It calls no more, and its memory is given back before the next one has some.
          capturer?.stopCapture()
          capturer = nil
          wait.ended(now: now)
          report(absence: reason)
          if case .ended = event { hasEnded = true } else { hasEnded = false }
        }
      }
      if surroundings.takeChanges() { wait.surroundingsChanged(now: now) }
      switch wait.next(now: now) {
      case .wait(let deadline): run.wait(until: deadline)
      case .look:
        switch surroundings.find() {
        case .nothing(let reason):
          wait.foundNothing(now: now)
          if !hasEnded { report(absence: reason) }
        case .capturer(let found):
          wait.began(now: now)
          capturer = found
          begin(found)
        }
      }
    }
  }

  private func begin(_ capturer: any VideoCapturer) {
    isFirstFrame.store(true, ordering: .relaxed)
    follow(capturer)
    capturer.startCapture(format: format, consumer: self)
  }

  private func report(absence reason: String) {
    change { state in
      state.absence = (state.hasDelivered ? "The picture stands still. " : "There is no picture yet. ") + reason
      state.stall = nil
    }
    // A source that is not there has no size.
    start(VideoFormat(size: PixelSize(width: 0, height: 0), frameRates: format.frameRates, pixelFormat: .bgra))
  }

  /// Tells the consumer once that the source has started.
  private func start(_ format: VideoFormat) {
    let isNew = state.withLock { state in
      defer { state.hasStarted = true }
      return !state.hasStarted
    }
    if isNew { consumer.captureDidStart(.success(format)) }
  }

  /// The consumer is called under the lock, so that reports keep their order.
  private func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      body(&state)
      let sentence = state.absence ?? state.stall
      guard sentence != state.reported else { return }
      state.reported = sentence
      if let sentence { consumer.captureDidStall(sentence) } else { consumer.captureDidResume() }
    }
  }

  private func post(_ event: Event) {
    state.withLock { $0.events.append(event) }
    run.wake()
  }

  // MARK: The present capturer's threads

  func captureDidStart(_ result: Result<VideoFormat, CaptureError>) {
    switch result {
    case .success(let format):
      start(format)
      post(.started)
    case .failure(let error): post(.refused(error.sentence))
    }
  }

  func consume(_ frame: VideoFrame) {
    if isFirstFrame.exchange(false, ordering: .relaxed) {
      change { state in
        state.absence = nil
        state.hasDelivered = true
      }
    }
    consumer.consume(frame)
  }

  func captureWillDeliver(at time: Timestamp) { consumer.captureWillDeliver(at: time) }

  func captureDidStall(_ sentence: String) { change { $0.stall = sentence } }

  func captureDidResume() { change { $0.stall = nil } }

  func captureDidEnd(_ reason: CaptureEnd) {
    switch reason {
    case .finished: post(.ended("The source has ended."))
    case .lost(let sentence): post(.ended(sentence))
    }
  }
}

/// The place in which a source may appear and from which it may go: the displays of this machine, or its desktops.
///
/// A waiting capturer uses it on one thread.
package protocol CaptureSurroundings: AnyObject, Sendable {
  /// Looks whether there is a source now. It waits two seconds at most, for a desktop that does not answer.
  func find() -> CaptureFinding

  /// Descriptors that can be read when a source may have appeared; none: only time tells.
  var descriptors: [Int32] { get }

  /// Reads what made a descriptor readable.
  /// - Returns: whether anything has changed.
  func takeChanges() -> Bool
}

/// The result of a look for a source.
package enum CaptureFinding: Sendable {
  /// There may be a source: a capturer that was not started yet, of its own for each finding.
  case capturer(any VideoCapturer)
  /// There is none, for the reason in the sentence.
  case nothing(String)
}
