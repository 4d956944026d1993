public import RTCMedia
import RTCNet

/// The window of a call: every remote video in a grid, the local picture in a corner.
///
/// All of SDL runs on one thread of the window's own, which sleeps until there is something to draw. Methods may be
/// called on any thread. A process has one such window at a time, and closes it before it exits.
///
/// Keys: `f`, F11 or a double click turn full screen on and off, Escape leaves it; `q`, or Escape outside full screen,
/// closes the window; `m` and `v` ask to mute the microphone and the camera; `p` hides and shows the local picture,
/// which can be dragged from corner to corner.
public final class CallWindow: Sendable {
  /// An action of the user, or an event of the window.
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
    /// Pictures of this video cannot be shown, for the reason in the sentence; reported once until one can be shown
    /// again.
    case unshowable(video: String, String)
  }

  /// Events in order; ends when the window is gone. For one reader.
  public let events: AsyncStream<Event>

  /// The sink of the local picture, drawn over the others in a corner; not mirrored. Hidden before the first frame and
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
  ///   - title: the title of the window.
  ///   - size: of the picture area in pixels; nil takes the first remote picture's, as far as the screen allows.
  /// - Throws: if there is no display, the display refuses, a window is open already, or an earlier one has lost its X
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
      WindowThread.start(board, feed, WindowOptions(size: size, drawing: drawing)) {
        continuation.resume(returning: $0)
      }
    }
    try opened.get()
    return CallWindow(board: board, events: events)
  }

  /// Adds a remote video to the grid, black until its first frame; `videoDidEnd` removes it. After the window is gone,
  /// the sink ignores frames.
  ///
  /// - Parameter name: the remote peer's name; shown in the title if there are several.
  public func addVideo(name: String) -> WindowVideo { WindowVideo(board: board, id: board.addVideo(name: name)) }

  /// Changes the title of the window. Any thread.
  public func setTitle(_ title: String) { board.change { $0.title = title } }

  /// Shows in the title which of our media the remote peer does not get.
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
  /// The pictures passed to the renderer so far, by the format they arrived in and the one they were passed on in.
  package var uploads: [PictureUpload: Int] { board.uploads }
}

/// The form of a picture for the renderer: unchanged, or converted to packed RGB.
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

/// The options that the window was opened with.
struct WindowOptions: Sendable {
  var size: PixelSize?
  var drawing: Drawing
}
