public import RTCMedia
import RTCNet
import Synchronization

/// The state to show, written by all threads and read by the window's thread, which is woken for it.
///
/// Only the newest frame of each video is kept; the lease of a frame that was not drawn in time ends at once.
final class WindowBoard: Sendable {
  /// The contents of the title.
  struct Caption: Hashable {
    var title: String
    var isMicrophoneMuted = false
    var isCameraMuted = false
  }

  /// The changes since the thread's last read.
  struct Changes {
    var isClosing: Bool
    var videos: [Video]
    var preview: Preview
    var caption: Caption
  }

  struct Video {
    let id: Int
    let name: String
    var isScreen = false
    var newest: VideoFrame?
  }

  enum Preview {
    case unchanged
    case frame(VideoFrame)
    case ended
  }

  private enum Phase {
    case open
    /// The thread takes everything down.
    case closing
    case gone
  }

  private struct State {
    var phase = Phase.open
    var isClosing = false
    /// Whether the thread has been woken for changes.
    var hasChanges = false
    var nextID = 0
    var videos: [Video] = []
    var preview = Preview.unchanged
    var caption: Caption
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  /// Readable when there are changes; for the window's thread to sleep on.
  var descriptor: Int32 { wake.descriptor }
  private let wake: WakeEvent
  private let state: Mutex<State>
  private let drawn = Atomic(0)
  private let uploaded = Mutex<[PictureUpload: Int]>([:])

  init(title: String) throws(SystemError) {
    wake = try WakeEvent()
    state = Mutex(State(caption: Caption(title: title)))
  }

  // MARK: Any thread

  func addVideo(name: String) -> Int {
    update { state in
      state.nextID += 1
      state.videos.append(Video(id: state.nextID, name: name))
      return state.nextID
    }
  }

  func setScreen(_ isScreen: Bool, video id: Int) {
    update { state in
      guard let index = state.videos.firstIndex(where: { $0.id == id }) else { return }
      state.videos[index].isScreen = isScreen
    }
  }

  func removeVideo(_ id: Int) {
    // Removed under the lock, released outside it: the end of a lease runs its owner's code.
    _ = update { state -> Video? in
      state.videos.firstIndex { $0.id == id }.map { state.videos.remove(at: $0) }
    }
  }

  func show(_ frame: VideoFrame, video id: Int) {
    _ = update { state -> VideoFrame? in
      guard state.phase == .open, let index = state.videos.firstIndex(where: { $0.id == id }) else { return nil }
      let old = state.videos[index].newest
      state.videos[index].newest = frame
      return old
    }
  }

  func changePreview(_ preview: Preview) {
    _ = update { state -> Preview in
      guard state.phase == .open else { return .unchanged }
      let old = state.preview
      state.preview = preview
      return old
    }
  }

  func change(_ body: (inout Caption) -> Void) { update { body(&$0.caption) } }

  func requestClose() { update { $0.isClosing = true } }

  /// Returns when the window is gone.
  func end() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if state.phase == .gone { return true }
        state.waiters.append(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  var drawings: Int { drawn.load(ordering: .acquiring) }
  var uploads: [PictureUpload: Int] { uploaded.withLock { $0 } }

  private func update<R: Sendable>(_ body: (inout State) -> R) -> R {
    state.withLock { state in
      let result = body(&state)
      if !state.hasChanges {
        state.hasChanges = true
        wake.signal()
      }
      return result
    }
  }

  // MARK: The window's thread

  /// Nothing more is shown.
  func noteClosing() {
    let leases = state.withLock { state in
      defer {
        state.phase = .closing
        state.videos.removeAll()
        state.preview = .unchanged
      }
      return (state.videos, state.preview)
    }
    withExtendedLifetime(leases) {}
  }

  /// The window is gone.
  func noteEnded() {
    let waiters = state.withLock { state in
      defer { state.waiters.removeAll() }
      state.phase = .gone
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  func noteDrawing() { drawn.add(1, ordering: .releasing) }

  func note(_ upload: PictureUpload) { uploaded.withLock { $0[upload, default: 0] += 1 } }

  /// Takes the changes; nil if there are none.
  func takeChanges() -> Changes? {
    state.withLock { state in
      guard state.hasChanges else { return nil }
      state.hasChanges = false
      wake.clear()
      let changes = Changes(
        isClosing: state.isClosing, videos: state.videos, preview: state.preview, caption: state.caption)
      for index in state.videos.indices { state.videos[index].newest = nil }
      state.preview = .unchanged
      return changes
    }
  }
}

/// A remote video's place in the window. Any thread.
public final class WindowVideo: VideoSink {
  private let board: WindowBoard
  private let id: Int

  init(board: WindowBoard, id: Int) {
    self.board = board
    self.id = id
  }

  /// Shows the newest; one that was not drawn in time is left out. Any thread.
  public func show(_ frame: VideoFrame) { board.show(frame, video: id) }
  /// Takes the video out of the window. Any thread.
  public func videoDidEnd() { board.removeVideo(id) }

  /// A screen has the room, and the faces beside it a strip; without it all are alike.
  public func setScreen(_ isScreen: Bool) { board.setScreen(isScreen, video: id) }
}

/// The sink of the local picture.
final class PreviewSink: VideoSink {
  private let board: WindowBoard

  init(board: WindowBoard) { self.board = board }

  func show(_ frame: VideoFrame) { board.changePreview(.frame(frame)) }
  func videoDidEnd() { board.changePreview(.ended) }
}
