internal import Glibc
internal import RTCCapture
public import RTCMedia
internal import RTCNet
internal import Synchronization

/// Writes the very frames that are sent or received into a file, with sound: mkv, webm or mp4, by the extension.
///
/// The file begins at the first key frame, and at any moment all but about the last second of it plays, however the
/// program ends. When the pictures change in a way that the file cannot follow (another codec; another size, but for VP8
/// and VP9 in mkv and webm), or a track comes after the file has begun, it ends and NAME-2.mkv goes on with all there is
/// then. When writing fails (the disk is full), the recording ends, and says so; nothing else is disturbed.
public final class Recorder: Sendable {
  private let queue: RecordingQueue
  private let thread = WorkerThread()
  private let shared: RecordingShare
  /// The tracks that `record` writes into.
  private let own: (pictures: RecordingTrack?, sound: RecordingTrack?)
  /// The function that takes the frames of a track.
  private let append: @Sendable (RecordingQueue.Item) -> Void
  private let tracksAdded: Atomic<Int>

  /// Creates the file.
  ///
  /// - Parameters:
  ///   - path: ends in .mkv, .webm or .mp4. A file of that name that holds anything is refused.
  ///   - codec: what the pictures will be coded with, if that is known; whether they fit is then checked here, and at the
  ///     first key frame otherwise.
  ///   - hasVideo: whether the file waits for pictures. If false, it begins with the first sound, and pictures that come
  ///     later begin another file.
  ///   - hasAudio: whether sound may come: the file gets a track for it.
  ///   - report: called on the recorder's thread, or on a caller's of `record`; must not block.
  public convenience init(
    path: String, codec: VideoCodec? = nil, hasVideo: Bool = true, hasAudio: Bool,
    report: @escaping @Sendable (RecordingEvent) -> Void = { _ in }
  ) throws(RecordingError) {
    try self.init(
      path: path, codec: codec, tracks: .own(hasVideo: hasVideo, hasAudio: hasAudio, {}), files: .direct, report: report
    )
  }

  /// - Parameters:
  ///   - files: how the files are created.
  ///   - segments: nil: one file, as far as it can follow.
  ///   - onKeyFrameWanted: a segment is to begin and needs a key frame. Called on the recorder's thread; must not wait.
  package convenience init(
    path: String, hasVideo: Bool, hasAudio: Bool, files: RecordingFiles, segments: RecordingSegments? = nil,
    onKeyFrameWanted: @escaping @Sendable () -> Void = {}, report: @escaping @Sendable (RecordingEvent) -> Void
  ) throws(RecordingError) {
    try self.init(
      path: path, codec: nil, tracks: .own(hasVideo: hasVideo, hasAudio: hasAudio, onKeyFrameWanted), files: files,
      segments: segments, report: report)
  }

  /// Creates the file for tracks that are added one by one, at any time. It begins about a second after the first key
  /// frame, or the first sound when there are no pictures, with the tracks there are then.
  ///
  /// - Parameters:
  ///   - path: ends in .mkv, .webm or .mp4. A file of that name that holds anything is refused.
  ///   - report: called on the recorder's thread, or on a caller's of `RecordingTrack.take`; must not block.
  public convenience init(
    collectingInto path: String, report: @escaping @Sendable (RecordingEvent) -> Void = { _ in }
  ) throws(RecordingError) {
    try self.init(path: path, codec: nil, tracks: .added, files: .direct, report: report)
  }

  /// - Parameters:
  ///   - files: how the files are created.
  ///   - segments: nil: one file, as far as it can follow.
  package convenience init(
    collectingInto path: String, files: RecordingFiles, segments: RecordingSegments? = nil,
    report: @escaping @Sendable (RecordingEvent) -> Void
  ) throws(RecordingError) {
    try self.init(path: path, codec: nil, tracks: .added, files: files, segments: segments, report: report)
  }

  private enum Tracks {
    /// With the function that asks for a key frame.
    case own(hasVideo: Bool, hasAudio: Bool, @Sendable () -> Void)
    case added
  }

  private init(
    path: String, codec: VideoCodec?, tracks: Tracks, files: RecordingFiles, segments: RecordingSegments? = nil,
    report: @escaping @Sendable (RecordingEvent) -> Void
  ) throws(RecordingError) {
    let container = try RecordingContainer(path: path)
    if let codec { try container.check(codec, path: path) }
    let names = RecordingNames(path: path, isSeries: segments != nil)
    let (number, descriptor) = try Self.createFirst(names, by: files)
    let shared = RecordingShare(path: names.path(number))
    let queue = RecordingQueue(mostBytes: 64 << 20)
    (self.queue, self.shared) = (queue, shared)
    let append = Self.intake(queue, shared, report)
    self.append = append
    let patience: RecordingPatience
    switch tracks {
    case .own(let hasVideo, let hasAudio, let askForKeyFrame):
      patience = .none
      let sound = hasAudio ? RecordingTrack(.init(value: 1), .sound, name: nil, append: append) : nil
      let pictures = RecordingTrack(
        .init(value: 0), .pictures, name: nil, isExpected: hasVideo, askForKeyFrame: askForKeyFrame, append: append)
      own = (pictures, sound)
    case .added:
      patience = .ofCalls
      own = (nil, nil)
    }
    tracksAdded = Atomic(2)
    // A thread that is stopped before it begins does nothing, and the file would stay as it is.
    let hasBegun = Monitor(false)
    do throws(SystemError) {
      _ = try thread.start(name: "recorder") { run in
        shared.run.withLock { $0 = run }
        hasBegun.change { $0 = true }
        Self.blockSignals()
        let sink = RecordingSink(descriptor, path: names.path(number), files: files)
        RecordingWriter(
          sink, names: names, number: number, segments: segments, container: container, patience: patience,
          files: files, shared: shared, report: report
        ).run(run, queue)
      }
    } catch {
      close(descriptor)
      throw .unavailable("\(path) cannot be recorded. \(error)")
    }
    _ = hasBegun.wait(until: nil) { $0 ? true : nil }
  }

  /// The named file; of segments the first one after those that are there.
  private static func createFirst(
    _ names: RecordingNames, by files: RecordingFiles
  ) throws(RecordingError) -> (number: Int, descriptor: Int32) {
    let number = names.isSeries ? files.newest(names.path) + 1 : 1
    return (number, try RecordingSink.create(names.path(number), by: files))
  }

  /// Takes a frame to write; any thread, returns at once. Frames come in decoding order. A recorder of added tracks leaves
  /// it out.
  public func record(_ frame: EncodedFrame) { own.pictures?.take(frame) }

  /// Takes a packet to write; any thread, returns at once. Nothing before the first key frame is kept.
  public func record(_ frame: EncodedAudioFrame) { own.sound?.take(frame) }

  /// Adds pictures to the recording.
  /// - Parameters:
  ///   - name: whose they are; the file says so.
  ///   - onKeyFrameWanted: a file begins and needs a key frame of theirs. Called on the recorder's thread; must not wait.
  public func addPictures(
    name: String, onKeyFrameWanted: @escaping @Sendable () -> Void = {}
  ) -> RecordingTrack {
    RecordingTrack(
      nextNumber(), .pictures, name: name.isEmpty ? nil : name, askForKeyFrame: onKeyFrameWanted, append: append)
  }

  /// Adds a sound to the recording, a track of its own.
  /// - Parameter name: whose it is; the file says so.
  public func addSound(name: String) -> RecordingTrack {
    RecordingTrack(nextNumber(), .sound, name: name.isEmpty ? nil : name, append: append)
  }

  private func nextNumber() -> RecordingTrack.Number {
    .init(value: tracksAdded.add(1, ordering: .relaxed).newValue)
  }

  /// Writes what was taken, makes the file whole and closes it; waits for that, unless called from `report`. A file
  /// without a picture is removed. Later frames are not recorded; a second call does nothing.
  public func finish() { thread.stop() }

  /// How far the recording has come; moves about once a second.
  public var progress: RecordingProgress { shared.progress.withLock { $0 } }

  private static func intake(
    _ queue: RecordingQueue, _ shared: RecordingShare, _ report: @escaping @Sendable (RecordingEvent) -> Void
  ) -> @Sendable (RecordingQueue.Item) -> Void {
    { item in
      switch queue.append(item) {
      case .wakesReader: shared.run.withLock { $0 }?.wake()
      case .beginsToSkip:
        let path = shared.progress.withLock { $0.path }
        report(
          .fellBehind(
            sentence: "The disk is too slow for \(path): pictures are missing from the recording up to the next "
              + "key frame; the cast goes on."))
      case .queued, .leftOut: break
      }
    }
  }

  /// A file that outgrows the process's limit would end the process by SIGXFSZ; blocked, the write fails instead.
  private static func blockSignals() {
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
  }
}

/// The state that the recorder's thread and its callers share.
final class RecordingShare: Sendable {
  let run = Mutex<WorkerRun?>(nil)
  let progress: Mutex<RecordingProgress>

  init(path: String) { progress = Mutex(RecordingProgress(path: path)) }
}
