import Logging
import RTCCaptureFile
import RTCMedia
import RTCPeer
import RTCWindow
import RTCast
import Synchronization

/// Shows and records received media: in a window as soon as there is a picture, in a file from the first picture on.
actor CallShow {
  private var title: String
  private let name: String
  private let logger: Logger
  private let output: CallOutput
  private let onEvent: @Sendable (CallWindow.Event?) -> Void
  private var window: Stage
  private var recorder: Recorder?
  private var preview: LocalVideoTrack?
  private var recordings: [ObjectIdentifier: RecordingTrack] = [:]
  private var videos: [ObjectIdentifier: WindowVideo] = [:]

  private enum Stage {
    /// No window is wanted, or none can be had.
    case none
    case wanted
    case open(CallWindow)
  }

  /// - Parameter onEvent: what happens at the window; nil: it is gone.
  init(
    title: String, showsWindow: Bool, recording: RecordOptions?, output: CallOutput, logger: Logger,
    onEvent: @escaping @Sendable (CallWindow.Event?) -> Void
  ) throws(CastFailure) {
    (self.title, name) = (title, title)
    self.output = output
    self.logger = logger
    self.onEvent = onEvent
    window = showsWindow ? .wanted : .none
    guard let recording, let record = recording.record else { return }
    do throws(RecordingError) {
      recorder = try Recorder(collectingInto: record, files: .ofProgram, segments: recording.segments) { event in
        event.log(to: logger, orFail: output.recordingFailed)
        if case .segmentCompleted(let path, let bytes) = event { output.recorded(path, bytes: bytes) }
      }
    } catch {
      throw CastFailure(error)
    }
  }

  func add(_ track: RemoteVideoTrack) async {
    if let recorder {
      let recording = recorder.addPictures(name: track.peer) { [weak track] in track?.requestKeyFrame() }
      recordings[ObjectIdentifier(track)] = recording
      track.record(into: recording)
    }
    if case .none = window { return }
    // Decoding does not wait for the window, which begins with the newest picture.
    let unseen = UnseenPictures()
    track.add(unseen)
    defer { track.remove(unseen) }
    guard let window = await openWindow() else { return }
    let video = window.addVideo(name: track.peer)
    video.setScreen(track.content == .screen)
    videos[ObjectIdentifier(track)] = video
    track.add(video)
  }

  /// The content of a video has changed.
  func change(_ track: RemoteVideoTrack) { videos[ObjectIdentifier(track)]?.setScreen(track.content == .screen) }

  func remove(_ track: RemoteVideoTrack) {
    videos[ObjectIdentifier(track)] = nil
    recordings.removeValue(forKey: ObjectIdentifier(track))?.end()
  }

  func add(_ track: RemoteAudioTrack) {
    guard let recorder else { return }
    let recording = recorder.addSound(name: track.peer)
    recordings[ObjectIdentifier(track)] = recording
    track.record(into: recording)
  }

  func remove(_ track: RemoteAudioTrack) { recordings.removeValue(forKey: ObjectIdentifier(track))?.end() }

  func setPreview(_ track: LocalVideoTrack?) {
    guard case .open(let window) = window else {
      preview = track
      return
    }
    preview?.remove(window.preview)
    preview = track
    track?.add(window.preview)
  }

  /// The window's title shows the code of both sides' keys.
  func setKeys(_ keys: String) {
    title = "\(name) · keys \(keys)"
    if case .open(let window) = window { window.setTitle(title) }
  }

  func setMuted(microphone: Bool, camera: Bool) {
    if case .open(let window) = window { window.setMuted(microphone: microphone, camera: camera) }
  }

  private func openWindow() async -> CallWindow? {
    switch window {
    case .none: return nil
    case .open(let window): return window
    case .wanted: break
    }
    window = .none
    do throws(WindowError) {
      let new = try await CallWindow.open(title: title)
      window = .open(new)
      preview?.add(new.preview)
      let onEvent = onEvent
      Task {
        for await event in new.events { onEvent(event) }
        onEvent(nil)
      }
      return new
    } catch {
      logger.warning("Nothing is shown: \(error.sentence)")
      return nil
    }
  }

  /// Closes the window; the next picture opens another.
  func reset() async {
    guard case .open(let open) = window else { return }
    window = .wanted
    videos = [:]
    preview?.remove(open.preview)
    await open.close()
  }

  /// Ends all of it; the file is whole when this returns.
  func finish() async {
    if case .open(let open) = window { await open.close() }
    window = .none
    guard let recorder else { return }
    self.recorder = nil
    recorder.finish()
    output.recorded(recorder.progress)
  }
}

/// Receives pictures while there is no window.
private final class UnseenPictures: VideoSink {
  func show(_ frame: VideoFrame) {}
  func videoDidEnd() {}
}
