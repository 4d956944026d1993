import RTCNet
import RTCPrimitives
import Synchronization

/// The thread that makes still pictures of relayed streams, one stream after the other. It starts with the first request, and
/// takes a limited share of the processor. Any thread.
final class PicturePainter: Sendable {
  fileprivate enum Work {
    case paint(RelayedPictures)
    case look([RelayedPictures])
    case wait(until: Timestamp?)
    case end
  }

  fileprivate struct State {
    /// The streams that wait for their turn, each once.
    var queue: [RelayedPictures] = []
    /// The streams of which still pictures are asked for.
    var watched: [RelayedPictures] = []
    var nextLook: Timestamp?
    var allowance = EncodingAllowance(share: PicturePainter.share)
    var isRunning = false
    var isOpen = true
  }

  /// The share of one core's time for decoding and encoding together, without starts of decoders.
  fileprivate static let share = 0.25
  /// The interval at which decoders of streams at rest are ended, and late requests are answered.
  fileprivate static let lookInterval = TimeDelta.milliseconds(500)

  private let state = Mutex(State())
  private let waiter = Waiter()

  deinit { waiter.ring() }

  /// Has a still picture of a stream made.
  func paint(_ pictures: RelayedPictures) {
    let starts = state.withLock { state in
      guard state.isOpen else { return false }
      if !state.queue.contains(where: { $0 === pictures }) { state.queue.append(pictures) }
      if !state.watched.contains(where: { $0 === pictures }) { state.watched.append(pictures) }
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if starts { start() }
    waiter.ring()
  }

  /// Ends the thread.
  func stop() {
    state.withLock { state in
      state.isOpen = false
      (state.queue, state.watched) = ([], [])
    }
    waiter.ring()
  }

  private func start() {
    let thread = try? NamedThread(name: "rtc-pictures") { [weak self, waiter] in
      var workshop = PictureWorkshop()
      var deadline: Timestamp?
      repeat { waiter.wait(until: deadline) } while self?.serve(&workshop, &deadline) ?? false
    }
    if thread == nil { state.withLock { $0.isRunning = false } }
  }

  /// - Returns: false when the thread is no longer needed.
  private func serve(_ workshop: inout PictureWorkshop, _ deadline: inout Timestamp?) -> Bool {
    while true {
      let start = MonotonicClock.now()
      switch state.withLock({ $0.next(start) }) {
      case .end: return false
      case .wait(let until):
        deadline = until
        return true
      case .paint(let pictures):
        pictures.paint(in: &workshop)
        // A stream costs a start of its decoder's process once, and all streams of a page that is opened are to be seen soon.
        let end = MonotonicClock.now()
        let work = end - start - workshop.takeStartTime()
        state.withLock { $0.allowance.note(work, now: end) }
      case .look(let watched):
        let rest = watched.filter { !$0.look(start, &workshop) }
        if rest.isEmpty { continue }
        workshop.encoder.reset()
        state.withLock { state in state.watched.removeAll { one in rest.contains { $0 === one } } }
      }
    }
  }
}

extension PicturePainter.State {
  fileprivate mutating func next(_ now: Timestamp) -> PicturePainter.Work {
    guard isOpen else { return .end }
    if let time = nextLook, time <= now {
      nextLook = watched.isEmpty ? nil : now + PicturePainter.lookInterval
      return .look(watched)
    }
    if nextLook == nil, !watched.isEmpty { nextLook = now + PicturePainter.lookInterval }
    guard !queue.isEmpty else { return .wait(until: nextLook) }
    guard allowance.nextTurn <= now else {
      return .wait(until: [allowance.nextTurn, nextLook].compactMap(\.self).min())
    }
    return .paint(queue.removeFirst())
  }
}
