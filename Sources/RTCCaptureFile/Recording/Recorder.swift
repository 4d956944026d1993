internal import Dispatch
internal import Glibc
internal import RTCCapture
public import RTCMedia
internal import Synchronization

/// Writes the very frames that are sent into a file, with sound: mkv, webm or mp4, by the extension.
///
/// The file begins at the first key frame, and at any moment all but about the last second of it plays, however the
/// program ends. When the pictures change in a way that the file cannot follow (another codec; another size, but for VP8
/// and VP9 in mkv and webm), it ends and NAME-2.mkv goes on. When writing fails (the disk is full), the recording ends,
/// and says so; nothing else is disturbed.
public final class Recorder: Sendable {
  private let queue = RecordingQueue(mostBytes: 64 << 20)
  private let thread = CaptureThread()
  private let shared: RecordingShare
  private let report: @Sendable (RecordingEvent) -> Void

  /// Creates the file.
  ///
  /// - Parameters:
  ///   - path: ends in .mkv, .webm or .mp4. A file of that name that holds anything is refused.
  ///   - codec: what the pictures will be coded with, if that is known; whether they fit is then checked here, and at the
  ///     first key frame otherwise.
  ///   - hasAudio: whether sound may come: the file gets a track for it.
  ///   - report: called on the recorder's thread, or on a caller's of `record`; must not block.
  public init(
    path: String, codec: VideoCodec? = nil, hasAudio: Bool,
    report: @escaping @Sendable (RecordingEvent) -> Void = { _ in }
  ) throws(RecordingError) {
    let container = try RecordingContainer(path: path)
    if let codec { try container.check(codec, path: path) }
    let descriptor = try RecordingSink.create(path)
    let shared = RecordingShare(path: path)
    (self.report, self.shared) = (report, shared)
    // A thread that is stopped before it begins does nothing, and the file would stay as it is.
    let begun = DispatchSemaphore(value: 0)
    let isRunning = thread.start(name: "recorder") { [queue] run in
      shared.run.withLock { $0 = run }
      begun.signal()
      Self.blockSignals()
      let sink = RecordingSink(descriptor, path: path)
      RecordingWriter(sink, container: container, hasAudio: hasAudio, shared: shared, report: report).run(run, queue)
    }
    guard isRunning else {
      close(descriptor)
      throw .unavailable("The system has no thread left to record \(path) with; close other programs.")
    }
    begun.wait()
  }

  /// Takes a frame to write; any thread, returns at once. Frames come in decoding order.
  public func record(_ frame: EncodedFrame) { append(.picture(frame)) }

  /// Takes a packet to write; any thread, returns at once. Nothing before the first key frame is kept.
  public func record(_ frame: EncodedAudioFrame) { append(.sound(frame)) }

  /// Writes what was taken, makes the file whole and closes it; waits for that, unless called from `report`. A file
  /// without a picture is removed. Later frames are not recorded; a second call does nothing.
  public func finish() { thread.stop() }

  /// How far the recording has come; moves about once a second.
  public var progress: RecordingProgress { shared.progress.withLock { $0 } }

  private func append(_ item: RecordingQueue.Item) {
    switch queue.append(item) {
    case .wakesReader: shared.run.withLock { $0 }?.wake()
    case .beginsToSkip:
      report(
        .fellBehind(
          sentence: "The disk is too slow for \(progress.path): pictures are missing from the recording up to the next "
            + "key frame; the cast goes on."))
    case .queued, .leftOut: break
    }
  }

  /// A file that outgrows the process's limit would end the process by SIGXFSZ; blocked, the write fails instead.
  private static func blockSignals() {
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
  }
}

/// What the recorder's thread and its callers share.
final class RecordingShare: Sendable {
  let run = Mutex<CaptureRun?>(nil)
  let progress: Mutex<RecordingProgress>

  init(path: String) { progress = Mutex(RecordingProgress(path: path)) }
}
