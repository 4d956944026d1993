import CSDL2
import Glibc
import RTCMedia
import RTCPrimitives

/// The window from its opening to its end, on its thread.
final class WindowLoop {
  /// The size before the first picture, if none was requested.
  private static let firstSize = PixelSize(width: 960, height: 540)

  private let board: WindowBoard
  private let feed: AsyncStream<CallWindow.Event>.Continuation
  private let window: OpaquePointer
  /// The descriptor of its events; negative if SDL does not provide it.
  private let connection: Int32
  private var painter: Painter?

  private var videos: [WindowBoard.Video] = []
  private var caption: (text: WindowBoard.Caption, names: [String])?
  private var unshowable: Set<Painter.Key> = []
  private var preview = PreviewPlace()
  /// The window follows the first picture's size, once.
  private var takesFirstSize: Bool
  private var isFullScreen = false
  /// Minimised, or not on the screen for another reason: nothing is drawn.
  private var isHidden = false
  private var needsDrawing = true
  private var end: CallWindow.Event??

  /// With SDL connected to a display.
  init(
    _ board: WindowBoard, _ feed: AsyncStream<CallWindow.Event>.Continuation, _ options: WindowOptions
  ) throws(WindowError) {
    (self.board, self.feed) = (board, feed)
    takesFirstSize = options.size == nil
    let size = options.size ?? Self.firstSize
    let flags =
      SDL_WINDOW_HIDDEN.rawValue | SDL_WINDOW_RESIZABLE.rawValue | SDL_WINDOW_ALLOW_HIGHDPI.rawValue
    // Hidden at first, as making a renderer may recreate the window.
    let window = SDL_CreateWindow(
      "", csdl_anywhere(), csdl_anywhere(), Int32(clamping: size.width), Int32(clamping: size.height), flags)
    guard let window else { throw .refused("The display refuses a window of \(size) pixels (\(SDL.error)).") }
    self.window = window
    connection = csdl_descriptor(window)
    do throws(WindowError) {
      painter = try Painter(window, options.drawing)
    } catch {
      SDL_DestroyWindow(window)
      throw error
    }
    SDL_SetWindowMinimumSize(window, 120, 80)
    readBoard()
    SDL_ShowWindow(window)
    DisplayGuard.watch(window)
  }

  /// Shows pictures until the window is closed or lost, and destroys the window.
  /// - Returns: the event to report.
  func run() -> CallWindow.Event? {
    var event = SDL_Event()
    while end == nil {
      readBoard()
      drawIfNeeded()
      // Calls on the display may have brought in events with their answers: the thread sleeps after a look that found
      // none and that nothing has followed.
      var isQuiet = true
      while end == nil, SDL_PollEvent(&event) == 1 {
        handle(event)
        isQuiet = false
      }
      if DisplayGuard.isWindowTakenAway {
        end = .lost("Another program took the window away. Open it again to go on.")
      }
      if isQuiet, end == nil { sleep() }
    }
    board.noteClosing()
    DisplayGuard.endWatching(window)
    painter = nil
    SDL_DestroyWindow(window)
    return end ?? nil
  }

  /// Sleeps until the display or another thread has a change.
  private func sleep() {
    var sources = [board.descriptor, connection].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    // Fails when a signal came: then there is one look too many.
    poll(&sources, 2, connection < 0 ? 20 : -1)
  }

  // MARK: Changes by the other threads

  private func readBoard() {
    guard let changes = board.takeChanges(), let painter else { return }
    if changes.isClosing { end = .some(nil) }
    if changes.videos.map(\.isScreen) != videos.map(\.isScreen) { needsDrawing = true }
    if changes.videos.map(\.id) != videos.map(\.id) {
      painter.keep(changes.videos.map(\.id))
      unshowable = unshowable.filter { key in key == .preview || changes.videos.contains { key == .remote($0.id) } }
      needsDrawing = true
    }
    for video in changes.videos {
      guard let frame = video.newest else { continue }
      followFirst(frame)
      load(frame, .remote(video.id), name: video.name)
    }
    switch changes.preview {
    case .unchanged: break
    case .frame(let frame): load(frame, .preview, name: "the camera")
    case .ended:
      painter.drop(.preview)
      needsDrawing = true
    }
    // Leases are not kept.
    videos = changes.videos.map { WindowBoard.Video(id: $0.id, name: $0.name, isScreen: $0.isScreen) }
    write(changes.caption)
  }

  private func load(_ frame: VideoFrame, _ key: Painter.Key, name: String) {
    needsDrawing = true
    do throws(UnshowablePicture) {
      if let upload = try painter?.load(frame, key) { board.note(upload) }
      unshowable.remove(key)
    } catch {
      guard unshowable.insert(key).inserted else { return }
      feed.yield(.unshowable(video: name, "The picture of \(name) cannot be shown: \(error.reason)."))
    }
  }

  private func followFirst(_ frame: VideoFrame) {
    guard takesFirstSize else { return }
    takesFirstSize = false
    guard !isFullScreen else { return }
    var bounds = SDL_Rect()
    guard SDL_GetDisplayUsableBounds(SDL_GetWindowDisplayIndex(window), &bounds) == 0 else { return }
    var size = frame.shownSize
    if size.width > Int(bounds.w) || size.height > Int(bounds.h) {
      let place = GridLayout.fit(size, into: PixelRect(x: 0, y: 0, width: Int(bounds.w), height: Int(bounds.h)))
      size = PixelSize(width: place.width, height: place.height)
    }
    SDL_SetWindowSize(window, Int32(size.width), Int32(size.height))
    let (x, y) = (bounds.x + (bounds.w - Int32(size.width)) / 2, bounds.y + (bounds.h - Int32(size.height)) / 2)
    SDL_SetWindowPosition(window, x, y)
  }

  /// The names belong to the title where there are several.
  private func write(_ text: WindowBoard.Caption) {
    let names = videos.count > 1 ? videos.map(\.name) : []
    if let caption, caption == (text, names) { return }
    caption = (text, names)
    var title = text.title
    if !names.isEmpty { title += " – " + names.joined(separator: ", ") }
    // Names and titles are others' words.
    title = title.foreignText()
    if text.isMicrophoneMuted { title += " – microphone off" }
    if text.isCameraMuted { title += " – camera off" }
    SDL_SetWindowTitle(window, title)
    DisplayGuard.setTitle(title, of: window)
  }

  // MARK: Drawing

  private func drawIfNeeded() {
    guard needsDrawing, !isHidden, let painter else { return }
    needsDrawing = false
    let place = painter.pictureSize(.preview).flatMap { preview.rect(for: $0, in: painter.size) }
    painter.draw(videos.map { (id: $0.id, isScreen: $0.isScreen) }, preview: place)
    board.noteDrawing()
  }

  // MARK: The person and the display

  private func handle(_ event: SDL_Event) {
    switch SDL_EventType(rawValue: event.type) {
    case SDL_WINDOWEVENT: handle(event.window)
    case SDL_KEYDOWN: handle(event.key)
    case SDL_MOUSEBUTTONDOWN, SDL_MOUSEBUTTONUP: handle(event.button)
    case SDL_MOUSEMOTION:
      if preview.move(to: inPixels(event.motion.x, event.motion.y)) { needsDrawing = true }
    case SDL_RENDER_TARGETS_RESET, SDL_RENDER_DEVICE_RESET:
      painter?.dropAll()
      needsDrawing = true
    case SDL_QUIT:
      // Closing comes as an event of the window before this one: without, it is the Wayland server that has ended.
      end = .lost("The display went away. Open the window again when it is back.")
    default: break
    }
  }

  private func handle(_ event: SDL_WindowEvent) {
    switch SDL_WindowEventID(rawValue: UInt32(event.event)) {
    case SDL_WINDOWEVENT_CLOSE: end = .closed
    case SDL_WINDOWEVENT_HIDDEN, SDL_WINDOWEVENT_MINIMIZED: isHidden = true
    case SDL_WINDOWEVENT_SHOWN, SDL_WINDOWEVENT_RESTORED, SDL_WINDOWEVENT_MAXIMIZED, SDL_WINDOWEVENT_EXPOSED:
      isHidden = false
      needsDrawing = true
    case SDL_WINDOWEVENT_SIZE_CHANGED: needsDrawing = true
    default: break
    }
  }

  private func handle(_ event: SDL_KeyboardEvent) {
    let held = UInt32(event.keysym.mod) & (KMOD_CTRL.rawValue | KMOD_ALT.rawValue | KMOD_GUI.rawValue)
    guard event.repeat == 0, held == 0 else { return }
    switch SDL_KeyCode(rawValue: UInt32(bitPattern: event.keysym.sym)) {
    case SDLK_f, SDLK_F11: setFullScreen(!isFullScreen)
    case SDLK_ESCAPE: if isFullScreen { setFullScreen(false) } else { end = .closed }
    case SDLK_q: end = .closed
    case SDLK_m: feed.yield(.toggleMicrophone)
    case SDLK_v: feed.yield(.toggleCamera)
    case SDLK_p:
      preview.isHidden.toggle()
      needsDrawing = true
      feed.yield(.previewHidden(preview.isHidden))
    default: break
    }
  }

  private func handle(_ event: SDL_MouseButtonEvent) {
    guard event.button == 1, let painter else { return }
    if event.type == SDL_MOUSEBUTTONUP.rawValue {
      if preview.release(in: painter.size) { needsDrawing = true }
    } else if let picture = painter.pictureSize(.preview),
      preview.take(at: inPixels(event.x, event.y), picture, in: painter.size)
    {
      return
    } else if event.clicks == 2 {
      setFullScreen(!isFullScreen)
    }
  }

  private func setFullScreen(_ on: Bool) {
    guard SDL_SetWindowFullscreen(window, on ? SDL_WINDOW_FULLSCREEN_DESKTOP.rawValue : 0) == 0 else { return }
    isFullScreen = on
    needsDrawing = true
    feed.yield(.fullScreen(on))
  }

  /// The window's points may be several pixels each.
  private func inPixels(_ x: Int32, _ y: Int32) -> (x: Int, y: Int) {
    var (width, height): (Int32, Int32) = (0, 0)
    SDL_GetWindowSize(window, &width, &height)
    let size = painter?.size ?? PixelSize(width: 0, height: 0)
    return (Int(x) * size.width / max(1, Int(width)), Int(y) * size.height / max(1, Int(height)))
  }
}
