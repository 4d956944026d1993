public import RTCMedia
import RTCNet

/// The window that shows a call: every remote video in a grid, the local picture in a corner.
///
/// All of SDL runs on one thread of the window's own, which sleeps until there is something to draw. Methods may be
/// called on any thread. A process has one such window at a time, and closes it before it exits.
///
/// Keys: `f`, F11 or a double click turn full screen on and off, Escape leaves it; `q`, or Escape when there is none,
/// closes the window; `m` and `v` ask to mute the microphone and the camera; `p` hides and shows the local picture,
/// which can be dragged from corner to corner.
public final class CallWindow: Sendable {
  /// What the person at the window did, or what happened to it.
  public enum Event: Hashable, Sendable {
    /// The person closed the window. It is gone already; nothing but the end of `events` follows.
    case closed
    /// The display went away, or the window was taken from us; the sentence says which. Nothing follows. After a lost X
    /// display this process can open no window any more.
    case lost(String)
    /// The key to mute or unmute the microphone: the window itself changes nothing.
    case toggleMicrophone
    /// The key to mute or unmute the camera: the window itself changes nothing.
    case toggleCamera
    /// The window fills the screen, or no longer.
    case fullScreen(Bool)
    /// The local picture is hidden, or shown again.
    case previewHidden(Bool)
    /// Pictures of this video cannot be shown, for the reason in the sentence; told once until one can be shown again.
    case unshowable(video: String, String)
  }

  /// What happens to the window, in order; ends when it is gone. For one reader.
  public let events: AsyncStream<Event>

  /// Where the local picture goes, drawn over the others in a corner; not mirrored. Hidden before the first frame and
  /// after `videoDidEnd`, until the next frame.
  public let preview: any VideoSink

  let board: WindowBoard

  private init(board: WindowBoard, events: AsyncStream<Event>) {
    self.board = board
    self.events = events
    preview = PreviewSink(board: board)
  }

  deinit { board.requestClose() }

  /// Opens a black window.
  ///
  /// - Parameters:
  ///   - title: what the window is called.
  ///   - size: of the picture area in pixels; nil takes the first remote picture's, as far as the screen allows.
  /// - Throws: when there is no display, the display refuses, a window is open already, or an earlier one has lost its X
  ///   display.
  public static func open(title: String, size: PixelSize? = nil) async throws(WindowError) -> CallWindow {
    try await open(title: title, size: size, drawing: .whatIsFaster)
  }

  package static func open(
    title: String, size: PixelSize?, drawing: Drawing
  ) async throws(WindowError) -> CallWindow {
    let board: WindowBoard
    do throws(SystemError) { board = try WindowBoard(title: title) } catch { throw .refused(error.description) }
    try WindowThread.take()
    let (events, feed) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(64))
    let opened: Result<Void, WindowError> = await withCheckedContinuation { continuation in
      WindowThread.start(board, feed, WindowWish(size: size, drawing: drawing)) { continuation.resume(returning: $0) }
    }
    try opened.get()
    return CallWindow(board: board, events: events)
  }

  /// Adds a remote video to the grid, black until its first frame; it leaves the grid at `videoDidEnd`. After the window
  /// is gone, what the sink gets goes nowhere.
  ///
  /// - Parameter name: whose it is; shown in the title when there are several.
  public func addVideo(name: String) -> WindowVideo { WindowVideo(board: board, id: board.addVideo(name: name)) }

  /// Changes what the window is called. Any thread.
  public func setTitle(_ title: String) { board.change { $0.title = title } }

  /// Says in the title what the remote peer does not get from us.
  public func setMuted(microphone: Bool, camera: Bool) {
    board.change {
      $0.isMicrophoneMuted = microphone
      $0.isCameraMuted = camera
    }
  }

  /// Closes the window; returns when it is gone, at once when it is already.
  public func close() async {
    board.requestClose()
    await board.end()
  }

  /// How often the window has been drawn.
  package var drawings: Int { board.drawings }
  /// The pictures that were handed to the renderer so far, by the format they came in and the one they were handed on in.
  package var uploads: [PictureUpload: Int] { board.uploads }
}

/// The way of a picture to the renderer: handed on as it came, or turned to packed RGB before.
package struct PictureUpload: Hashable, Sendable {
  /// The frame's format.
  package var source: PixelFormat
  /// The texture's format.
  package var texture: PixelFormat

  package init(from source: PixelFormat, to texture: PixelFormat) {
    (self.source, self.texture) = (source, texture)
  }
}

/// How pictures get on the screen.
package enum Drawing: Sendable {
  /// The graphics card, or this processor where the card is only imitated.
  case whatIsFaster
  case byOpenGL
  case byProcessor
}

/// What the window was opened with.
struct WindowWish: Sendable {
  var size: PixelSize?
  var drawing: Drawing
}
