internal import Glibc
internal import RTCCapture
internal import RTCMedia
internal import RTCNet
internal import RTCPrimitives

/// The recorder's thread: brings pictures and sound into order, writes them, and follows changes into another file.
final class RecordingWriter {
  private enum State {
    /// Nothing is written yet.
    case empty(RecordingSink)
    case writing(RecordedFile)
    case over
  }

  private let names: RecordingNames
  private let segments: RecordingSegments?
  private let files: RecordingFiles
  private let container: RecordingContainer
  private let patience: RecordingPatience
  private let shared: RecordingShare
  private let report: @Sendable (RecordingEvent) -> Void
  private var state: State
  private var fileNumber: Int
  /// The tracks that have not ended.
  private var tracks: [RecordingTrack.Number: RecordingTrack] = [:]
  /// The names of the tracks, also of tracks that have ended.
  private var owners: [RecordingTrack.Number: String] = [:]
  /// The tracks whose pictures files of this kind cannot hold.
  private var leftOut: Set<RecordingTrack.Number> = []
  /// The frames that wait for their place between frames of the other tracks.
  private var order = RecordingOrder()
  /// The next file, until its tracks are known.
  private var next: RecordingStart?
  /// Whether the file being written is long enough, and key frames were asked for.
  private var isCutDue = false
  private var fileBegan = MonotonicClock.now()
  private var completedSegments = 0
  private var lastFlush = MonotonicClock.now()
  private var lastArrival = MonotonicClock.now()

  /// The interval between two looks into the queue while frames arrive.
  private static let round = TimeDelta.milliseconds(150)
  /// The interval between two flushes. With `round` and the wait for order, less than a second is ever at stake.
  private static let flushInterval = TimeDelta.milliseconds(700)
  /// The longest wait without any frame: after it, a file that waits for its tracks begins without them.
  private static let longestRest = TimeDelta.seconds(5)

  init(
    _ sink: RecordingSink, names: RecordingNames, number: Int, segments: RecordingSegments?,
    container: RecordingContainer, patience: RecordingPatience, files: RecordingFiles, shared: RecordingShare,
    report: @escaping @Sendable (RecordingEvent) -> Void
  ) {
    (self.names, fileNumber, self.segments) = (names, number, segments)
    (self.files, self.container, self.patience) = (files, container, patience)
    (self.shared, self.report) = (shared, report)
    state = .empty(sink)
  }

  /// Writes until the run is stopped or nothing can be written any more.
  func run(_ run: WorkerRun, _ queue: RecordingQueue) {
    defer { queue.close() }
    while true {
      let isLast = run.isStopped
      let items = queue.takeAll(sleepsIfEmpty: isIdle && !isLast)
      let isIdleNow = isIdle && items.isEmpty
      for item in items { order.append(item) }
      write(all: isLast)
      beginAfterRest(hasRested: items.isEmpty)
      if case .over = state { return }
      if isLast { return finish() }
      flushIfDue()
      if case .over = state { return }
      cutAfterRest()
      run.wait(until: isIdleNow ? restingCut : MonotonicClock.now() + Self.round)
    }
  }

  /// Whether nothing is left to do until a frame arrives.
  private var isIdle: Bool {
    guard order.isEmpty, next == nil else { return false }
    if case .writing(let file) = state { return !file.hasUnflushed }
    return true
  }

  private func write(all: Bool) {
    for entry in order.take(all: all, tracks: tracks.keys) where !isLate(entry) { write(entry) }
    while all, next != nil { beginNext() }
  }

  /// Whether the entry is of a track that has ended.
  private func isLate(_ entry: RecordingOrder.Entry) -> Bool {
    if case .begin = entry.media { false } else { tracks[entry.track] == nil }
  }

  private func write(_ entry: RecordingOrder.Entry) {
    do {
      switch entry.media {
      case .picture(let frame): try write(frame, entry)
      case .sound(let frame): try write(frame, entry)
      case .begin(let track):
        tracks[entry.track] = track
        owners[entry.track] = track.name
      case .end: tracks[entry.track] = nil
      }
    } catch {
      fail(error)
    }
    if let next, next.isReady(at: entry.time, expected: expectedPictures, patience) { beginNext() }
  }

  /// The pictures that are to be in a file.
  private var expectedPictures: some Sequence<RecordingTrack.Number> {
    tracks.values.lazy.filter { $0.kind == .pictures && !self.leftOut.contains($0.number) }.map(\.number)
  }

  private var expectsPictures: Bool { expectedPictures.contains { _ in true } }

  // MARK: - Frames

  private func write(_ frame: EncodedFrame, _ entry: RecordingOrder.Entry) throws {
    if case .over = state { return }
    let header = frame.isKeyFrame ? RecordedPictures(frame) : nil
    if let header, !container.holds(header.codec) { try leaveOut(entry.track, header.codec) }
    guard !leftOut.contains(entry.track) else { return }
    if next != nil {
      if header != nil || next?.hasBegun(entry.track) == true {
        next?.keep(entry, header)
        return
      }
    } else if let header, let cause = cause(header, entry, frame.captureTime) {
      begin(since: frame.captureTime, cause)
      next?.keep(entry, header)
      askForKeyFrames(except: entry.track)
      return
    }
    if case .writing(let file) = state { try file.write(frame, to: entry.track) }
    if isLongEnough(at: frame.captureTime), !isCutDue { demandCut() }
  }

  /// Why a file begins with this key frame; nil: the present one goes on.
  private func cause(
    _ header: RecordedPictures, _ entry: RecordingOrder.Entry, _ time: Timestamp
  ) -> RecordingStart.Cause? {
    if !goesOn(entry.track, with: header) { return .change(reason(header, entry.track)) }
    return isLongEnough(at: time) ? .segment : nil
  }

  private func goesOn(_ track: RecordingTrack.Number, with header: RecordedPictures) -> Bool {
    if case .writing(let file) = state { file.goesOn(track, with: header) } else { false }
  }

  private func write(_ frame: EncodedAudioFrame, _ entry: RecordingOrder.Entry) throws {
    if next != nil {
      next?.keep(entry)
      return
    }
    switch state {
    case .over: return
    case .empty:
      // Sound before the first picture is left out, if there will be one.
      if !expectsPictures {
        begin(since: frame.captureTime, .first)
        next?.keep(entry)
      }
    case .writing(let file):
      if file.has(entry.track) {
        // Every packet of sound can begin a file.
        guard isLongEnough(at: frame.captureTime), !expectsPictures else {
          return try file.write(frame, to: entry.track)
        }
        begin(since: frame.captureTime, .segment)
        next?.keep(entry)
        return
      }
      let name = owners[entry.track]
      begin(
        since: frame.captureTime,
        .change { "The sound of \(name ?? "another") has come, for which \($0) has no track" })
      next?.keep(entry)
      askForKeyFrames(except: nil)
    }
  }

  // MARK: - Files

  private func begin(since: Timestamp, _ cause: RecordingStart.Cause) {
    next = RecordingStart(since: since, cause: cause)
  }

  private func reason(_ header: RecordedPictures, _ number: RecordingTrack.Number) -> (String) -> String {
    let name = owners[number]
    if case .writing(let file) = state, !file.has(number) {
      return { "A picture of \(name ?? "another") has come, for which \($0) has no track" }
    }
    return {
      "The pictures \(name.map { "of \($0) " } ?? "")are \(header.codec.rawValue) of \(header.size) now, which \($0) "
        + "cannot follow"
    }
  }

  private func askForKeyFrames(except number: RecordingTrack.Number?) {
    for track in tracks.values where track.kind == .pictures && track.number != number { track.askForKeyFrame() }
  }

  /// The pictures of `track` cannot be in a file of this kind; without any others that is the end.
  private func leaveOut(_ number: RecordingTrack.Number, _ codec: VideoCodec) throws {
    guard leftOut.insert(number).inserted else { return }
    do throws(RecordingError) { try container.check(codec, path: names.path) } catch {
      guard expectsPictures else {
        if case .writing(let file) = state { try file.finish() }
        throw error
      }
      let name = owners[number].map { "of \($0) " } ?? ""
      report(.leftOut(sentence: "The pictures \(name)are not recorded: \(error.sentence)"))
    }
  }

  /// Begins the file that was waited for.
  private func beginNext() {
    guard let start = next else { return }
    next = nil
    do {
      switch state {
      case .over: return
      case .empty(let sink):
        try open(sink, start)
        report(.started(path: sink.path))
        removeOld(besides: fileNumber)
      case .writing(let file):
        try file.finish()
        if segments != nil { complete(file) }
        removeOld(besides: fileNumber + 1)
        let (sink, number) = try nextSink()
        fileNumber = number
        state = .empty(sink)
        try open(sink, start)
        report(Self.event(start.cause, from: file.sink.path, to: sink.path))
      }
    } catch {
      return fail(error)
    }
    for entry in start.entries { write(entry) }
  }

  private static func event(_ cause: RecordingStart.Cause, from old: String, to new: String) -> RecordingEvent {
    guard case .change(let reason) = cause else { return .started(path: new) }
    return .continued(path: new, sentence: "\(reason(old)); the recording goes on in \(new).")
  }

  private func open(_ sink: RecordingSink, _ start: RecordingStart) throws {
    let heard = start.entries.compactMap { if case .sound = $0.media { $0.track } else { nil } }
    let sounds = Set(heard).union(tracks.values.filter { $0.kind == .sound }.map(\.number))
    let content = RecordedFile.Tracks(
      pictures: start.pictures.sorted { $0.key < $1.key }.map { ($0.key, $0.value, owners[$0.key]) },
      sounds: sounds.sorted().map { ($0, owners[$0]) })
    state = .writing(try RecordedFile(sink, as: container, tracks: content, origin: start.since))
    lastFlush = MonotonicClock.now()
    (fileBegan, isCutDue) = (lastFlush, false)
  }

  private func beginAfterRest(hasRested: Bool) {
    let now = MonotonicClock.now()
    if !hasRested { lastArrival = now }
    if next != nil, order.isEmpty, now - lastArrival >= Self.longestRest { beginNext() }
  }

  /// The file with the next number, or with the first after it that is free.
  private func nextSink() throws(RecordingError) -> (RecordingSink, number: Int) {
    var number = fileNumber + 1
    while true {
      let next = names.path(number)
      do {
        return (RecordingSink(try RecordingSink.create(next, by: files), path: next, files: files), number)
      } catch {
        guard case .alreadyExists = error, number < fileNumber + 1000 else { throw error }
        number += 1
      }
    }
  }

  private func flushIfDue() {
    guard case .writing(let file) = state, file.hasUnflushed else { return }
    let now = MonotonicClock.now()
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
        pictures: file.pictureCount, segmentsBefore: completedSegments)
    }
  }

  // MARK: - Segments

  /// Whether the file being written may end.
  private func isLongEnough(at time: Timestamp) -> Bool {
    guard let segments, next == nil, case .writing(let file) = state else { return false }
    return isCutDue || time - file.origin >= segments.duration
  }

  private func demandCut() {
    isCutDue = true
    askForKeyFrames(except: nil)
  }

  /// The time to ask for key frames if none arrives by itself; nil: no such time.
  private var restingCut: Timestamp? {
    guard let segments, !isCutDue, case .writing = state else { return nil }
    return fileBegan + segments.duration
  }

  /// A picture at rest is in each segment, too.
  private func cutAfterRest() {
    if let time = restingCut, next == nil, MonotonicClock.now() >= time { demandCut() }
  }

  /// A segment is complete, and nothing of the next one is written.
  private func complete(_ file: RecordedFile) {
    completedSegments += 1
    report(.segmentCompleted(path: file.sink.path, bytes: file.sink.safeLength))
    shared.progress.withLock {
      $0 = RecordingProgress(path: file.sink.path, segmentsBefore: completedSegments)
    }
  }

  /// Removes the oldest segments, so that the wanted number is there together with the one of this number.
  private func removeOld(besides number: Int) {
    guard let keep = segments?.keep else { return }
    var old = number - max(1, keep)
    var missing = 0
    while old > 0, missing < RecordingNames.longestGap {
      if files.remove(names.path(old)) { missing = 0 } else { missing += 1 }
      old -= 1
    }
  }

  private func finish() {
    switch state {
    case .over: break
    case .empty(let sink): sink.keepSafePart()
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

  /// Ends the recording after an error; the complete part of the file stays.
  private func fail(_ error: any Error) {
    let ended = state
    state = .over
    next = nil
    switch ended {
    case .over: return
    case .empty(let sink):
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
