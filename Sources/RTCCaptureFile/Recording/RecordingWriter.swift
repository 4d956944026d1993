internal import Glibc
internal import RTCCapture
internal import RTCMedia
internal import RTCPrimitives

/// The recorder's thread: brings pictures and sound into order, writes them, and follows changes into another file.
final class RecordingWriter {
  private enum State {
    case awaitingKeyFrame(RecordingSink)
    case writing(RecordedFile)
    case over
  }

  private let path: String
  private let container: RecordingContainer
  private let hasAudio: Bool
  private let shared: RecordingShare
  private let report: @Sendable (RecordingEvent) -> Void
  private var state: State
  private var fileNumber = 1
  /// What waits for its place between frames of the other track, oldest first.
  private var pictures: [EncodedFrame] = []
  private var sounds: [EncodedAudioFrame] = []
  private var lastFlush = MonotonicClock.now

  /// Between two looks into the queue while frames come.
  private static let round = TimeDelta.milliseconds(150)
  /// Between two flushes; with `round` and the wait for order, less than a second is ever at stake.
  private static let flushInterval = TimeDelta.milliseconds(700)

  init(
    _ sink: RecordingSink, container: RecordingContainer, hasAudio: Bool, shared: RecordingShare,
    report: @escaping @Sendable (RecordingEvent) -> Void
  ) {
    (path, self.container, self.hasAudio, self.shared, self.report) = (sink.path, container, hasAudio, shared, report)
    state = .awaitingKeyFrame(sink)
  }

  /// Until the run is stopped or nothing can be written any more.
  func run(_ run: CaptureRun, _ queue: RecordingQueue) {
    defer { queue.close() }
    while true {
      let isLast = run.isStopped
      let items = queue.takeAll(sleepsIfEmpty: isIdle && !isLast)
      let waiting = (pictures.count, sounds.count)
      let isIdleNow = isIdle && items.isEmpty
      sort(items)
      write(all: isLast, atLeast: waiting)
      if case .over = state { return }
      if isLast { return finish() }
      flushIfDue()
      if case .over = state { return }
      run.wait(until: isIdleNow ? nil : MonotonicClock.now + Self.round)
    }
  }

  /// Nothing is left to do until a frame comes.
  private var isIdle: Bool {
    guard pictures.isEmpty, sounds.isEmpty else { return false }
    if case .writing(let file) = state { return !file.hasUnflushed }
    return true
  }

  // MARK: - Order

  private func sort(_ items: [RecordingQueue.Item]) {
    for item in items {
      switch item {
      case .picture(let frame): pictures.append(frame)
      case .sound(let frame): sounds.append(frame)
      }
    }
  }

  /// Writes in the order of capture as far as both tracks have come; `all` of it, or what waits since the last round.
  private func write(all: Bool, atLeast waiting: (pictures: Int, sounds: Int)) {
    let limit =
      hasAudio && !all
      ? min(pictures.last?.captureTime ?? .zero, sounds.last?.captureTime ?? .zero) : Timestamp.distantFuture
    var (pictureIndex, soundIndex) = (0, 0)
    while pictureIndex < pictures.count || soundIndex < sounds.count {
      let picture = pictureIndex < pictures.count ? pictures[pictureIndex] : nil
      let sound = soundIndex < sounds.count ? sounds[soundIndex] : nil
      let takesPicture =
        picture.map { picture in sound.map { picture.captureTime <= $0.captureTime } ?? true } ?? false
      if takesPicture, let picture {
        guard picture.captureTime <= limit || pictureIndex < waiting.pictures || soundIndex < waiting.sounds else {
          break
        }
        pictureIndex += 1
        write(picture)
      } else if let sound {
        guard sound.captureTime <= limit || soundIndex < waiting.sounds || pictureIndex < waiting.pictures else {
          break
        }
        soundIndex += 1
        write(sound)
      }
    }
    pictures.removeFirst(pictureIndex)
    sounds.removeFirst(soundIndex)
  }

  // MARK: - Files

  private func write(_ frame: EncodedFrame) {
    do {
      switch state {
      case .over: return
      case .awaitingKeyFrame(let sink):
        guard frame.isKeyFrame, let header = RecordedPictures(frame) else { return }
        try open(sink, header, frame)
        report(.started(path: sink.path))
      case .writing(let file):
        if frame.isKeyFrame, let header = RecordedPictures(frame), !file.goesOn(with: header) {
          try goOn(after: file, header, frame)
        }
      }
      if case .writing(let file) = state { try file.write(frame) }
    } catch {
      fail(error)
    }
  }

  private func write(_ frame: EncodedAudioFrame) {
    guard case .writing(let file) = state else { return }
    do { try file.write(frame) } catch { fail(error) }
  }

  private func open(_ sink: RecordingSink, _ header: RecordedPictures, _ frame: EncodedFrame) throws {
    try container.check(header.codec, path: sink.path)
    let file = try RecordedFile(sink, as: container, pictures: header, first: frame, hasAudio: hasAudio)
    state = .writing(file)
    lastFlush = MonotonicClock.now
  }

  /// Ends `file` well and begins the next.
  private func goOn(after file: RecordedFile, _ header: RecordedPictures, _ frame: EncodedFrame) throws {
    try file.finish()
    let (sink, number) = try nextSink()
    fileNumber = number
    state = .awaitingKeyFrame(sink)
    try open(sink, header, frame)
    report(
      .continued(
        path: sink.path,
        sentence: "The pictures are \(header.codec.rawValue) of \(header.size) now, which \(file.sink.path) cannot "
          + "follow; the recording goes on in \(sink.path)."))
  }

  /// NAME-2.mkv, or the first number after it that is free.
  private func nextSink() throws(RecordingError) -> (RecordingSink, number: Int) {
    let stem = path.dropLast(container.rawValue.count + 1)
    let ending = path.suffix(container.rawValue.count + 1)
    var number = fileNumber + 1
    while true {
      let next = "\(stem)-\(number)\(ending)"
      do {
        return (RecordingSink(try RecordingSink.create(next), path: next), number)
      } catch {
        guard case .alreadyExists = error, number < fileNumber + 1000 else { throw error }
        number += 1
      }
    }
  }

  private func flushIfDue() {
    guard case .writing(let file) = state, file.hasUnflushed else { return }
    let now = MonotonicClock.now
    guard now - lastFlush >= Self.flushInterval || file.unflushedTime >= Self.flushInterval.nanoseconds else { return }
    do {
      try file.flush()
      lastFlush = now
      note(file)
    } catch {
      fail(error)
    }
  }

  private func note(_ file: RecordedFile) {
    shared.progress.withLock {
      $0 = RecordingProgress(
        path: file.sink.path, safeBytes: file.sink.safeLength, safeNanoseconds: file.safeTime,
        pictures: file.pictureCount)
    }
  }

  private func finish() {
    switch state {
    case .over: break
    case .awaitingKeyFrame(let sink): sink.keepSafePart()
    case .writing(let file):
      do {
        try file.finish()
        note(file)
      } catch {
        fail(error)
      }
    }
    state = .over
  }

  /// The recording ends; what is whole stays.
  private func fail(_ error: any Error) {
    let ended = state
    state = .over
    switch ended {
    case .over: return
    case .awaitingKeyFrame(let sink):
      sink.keepSafePart()
      report(.failed(sentence: sentence(error, sink, safeTime: 0)))
    case .writing(let file):
      file.sink.keepSafePart()
      note(file)
      report(.failed(sentence: sentence(error, file.sink, safeTime: file.safeTime)))
    }
  }

  private func sentence(_ error: any Error, _ sink: RecordingSink, safeTime: Int64) -> String {
    if let refused = error as? RecordingError { return "The recording ends: \(refused.sentence)" }
    let reason =
      switch sink.refusal {
      case ENOSPC, EDQUOT: "the disk is full"
      case EFBIG: "\(sink.path) has reached the largest size that is allowed here"
      case 0: "\(sink.path) cannot be written (\(error))"
      default: "\(sink.path) cannot be written (\(RecordingSink.words(sink.refusal)))"
      }
    let seconds = safeTime / 1_000_000_000
    let safe =
      sink.safeLength == 0
      ? "nothing of it is kept"
      : "\(sink.path) plays up to \(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60) "
        + "(\(sink.safeLength / 1000) kB)"
    return "The recording ends, for \(reason); \(safe). The cast goes on."
  }
}
