import RTCCapture
import RTCMedia
import RTCNet
import RTCPrimitives
import Synchronization

/// The queue between a running plugin and the two threads that deliver to consumers: at most one picture, half a second
/// of sound, and the end. Any thread.
final class PluginFeed: Sendable {
  static let soundLimit = TimeDelta.milliseconds(500)

  enum Delivery<Item> {
    case item(Item)
    case ended(CaptureEnd)
    case nothing
  }

  /// Receives notices of free room.
  struct Room: Sendable {
    var forPicture: @Sendable () -> Void
    /// The duration of sound that has left the queue.
    var forSound: @Sendable (TimeDelta) -> Void
  }

  private struct State {
    var isOpen = true
    var picture: VideoFrame?
    /// The picture before the pending one was not delivered, so what changed since then is unknown.
    var hasGap = true
    var pictureRun: WorkerRun?
    var lastTime: Timestamp?
    var sounds: [AudioFrame] = []
    var queued = TimeDelta.zero
    var soundRun: WorkerRun?
    var end: CaptureEnd?
    var room: Room?
  }

  private let state = Mutex(State())

  func setRoom(_ room: Room) { state.withLock { $0.room = room } }

  // MARK: - From the plugin

  /// A picture nobody fetches is kept, so that a still picture pushed once is not lost; a newer one replaces it.
  /// - Parameter replacing: a newer picture takes the place of one that is waited for, too.
  func offer(_ frame: VideoFrame, replacing: Bool = false) -> PushResult {
    let (result, wakes, old, room) = state.withLock { state -> (PushResult, WorkerRun?, VideoFrame?, Room?) in
      guard state.isOpen, state.end == nil else { return (.stopped, nil, nil, nil) }
      let isFetched = state.pictureRun != nil
      if state.picture != nil, isFetched, !replacing { return (.busy, nil, nil, nil) }
      let old = state.picture
      if old != nil { state.hasGap = true }
      var frame = frame
      if let last = state.lastTime, frame.captureTime <= last { frame.captureTime = last + .microseconds(1) }
      state.picture = frame
      // While pictures are fetched, a replacement is pushed without free room, and so frees none.
      return (.taken, state.pictureRun, old, isFetched ? nil : state.room)
    }
    withExtendedLifetime(old) {}
    wakes?.wake()
    room?.forPicture()
    return result
  }

  /// Sound that is not fetched is dropped.
  func offer(_ sound: AudioFrame) -> PushResult {
    let (result, wakes, room) = state.withLock { state -> (PushResult, WorkerRun?, Room?) in
      guard state.isOpen, state.end == nil else { return (.stopped, nil, nil) }
      guard let run = state.soundRun else { return (.taken, nil, state.room) }
      if state.queued > .zero, state.queued + sound.duration > Self.soundLimit { return (.busy, nil, nil) }
      state.sounds.append(sound)
      state.queued = state.queued + sound.duration
      return (.taken, run, nil)
    }
    wakes?.wake()
    room?.forSound(sound.duration)
    return result
  }

  /// The source ended by itself; what waits is still delivered.
  func end(_ reason: CaptureEnd) {
    let runs = state.withLock { state in
      if state.end == nil { state.end = reason }
      return [state.pictureRun, state.soundRun]
    }
    for run in runs { run?.wake() }
  }

  /// Pictures from here on have nothing to do with those before.
  func noteGap() { state.withLock { $0.hasGap = true } }

  /// Stops delivery; waiting buffers are returned.
  func close() {
    let old = state.withLock { state -> VideoFrame? in
      state.isOpen = false
      state.sounds = []
      state.room = nil
      defer { state.picture = nil }
      return state.picture
    }
    withExtendedLifetime(old) {}
  }

  // MARK: - To the consumers

  /// Sets the run that fetches pictures and is woken for each; nil: none.
  func setPictureRun(_ run: WorkerRun?) {
    state.withLock {
      $0.pictureRun = run
      $0.hasGap = true
    }
  }

  func setSoundRun(_ run: WorkerRun?) {
    let (dropped, room) = state.withLock { state in
      defer {
        state.soundRun = run
        state.sounds = []
        state.queued = .zero
      }
      return (state.queued, state.room)
    }
    if dropped > .zero { room?.forSound(dropped) }
  }

  func nextPicture() -> Delivery<VideoFrame> {
    let (delivery, room) = state.withLock { state -> (Delivery<VideoFrame>, Room?) in
      guard var frame = state.picture else { return (state.end.map { .ended($0) } ?? .nothing, nil) }
      state.picture = nil
      if state.hasGap { frame.damage = nil }
      state.hasGap = false
      state.lastTime = frame.captureTime
      return (.item(frame), state.room)
    }
    room?.forPicture()
    return delivery
  }

  func nextSound() -> Delivery<AudioFrame> {
    let (delivery, room) = state.withLock { state -> (Delivery<AudioFrame>, Room?) in
      guard !state.sounds.isEmpty else { return (state.end.map { .ended($0) } ?? .nothing, nil) }
      let sound = state.sounds.removeFirst()
      state.queued = state.queued - sound.duration
      return (.item(sound), state.room)
    }
    if case .item(let sound) = delivery { room?.forSound(sound.duration) }
    return delivery
  }
}
