import CSDL2
import Glibc
import RTCMedia
import RTCNet
import Synchronization

/// The thread on which SDL runs, from connecting to the display to releasing it.
enum WindowThread {
  private enum Use {
    case free
    case taken
    /// Its display was lost, and SDL with it.
    case spent
  }
  private static let use = Mutex(Use.free)

  /// Reserves the process's one window, until its thread ends.
  static func take() throws(WindowError) {
    let before = use.withLock { use in
      defer { if use == .free { use = .taken } }
      return use
    }
    switch before {
    case .free: return
    case .taken: throw .alreadyOpen
    case .spent:
      throw .refused(
        "The display of this program's last window went away, and nothing can be shown after that: start the program "
          + "again to open a window.")
    }
  }

  /// - Parameter opened: called once, on the new thread, when the window is on the screen or cannot be.
  static func start(
    _ board: WindowBoard, _ feed: AsyncStream<CallWindow.Event>.Continuation, _ options: WindowOptions,
    opened: @escaping @Sendable (Result<Void, WindowError>) -> Void
  ) {
    let events = WindowEvents(board, feed, opened)
    do throws(SystemError) {
      _ = try NamedThread(name: "rtc-window") { run(board, events, options) }
    } catch {
      use.withLock { $0 = .free }
      events.noteFailure(.refused(error.description))
    }
  }

  private static func run(_ board: WindowBoard, _ events: WindowEvents, _ options: WindowOptions) {
    DisplayGuard.begin {
      use.withLock { $0 = .spent }
      events.noteLost()
    }
    var failure: WindowError?
    var end: CallWindow.Event?
    do throws(WindowError) {
      try connect()
      defer { SDL_QuitSubSystem(SDL_INIT_VIDEO) }
      let loop = try WindowLoop(board, events.feed, options)
      events.noteOpen()
      end = loop.run()
    } catch {
      failure = error
    }
    DisplayGuard.end()
    // SDL's storage for threads that it did not create.
    SDL_TLSCleanup()
    use.withLock { $0 = .free }
    if let failure { events.noteFailure(failure) } else { events.noteEnd(end) }
  }

  /// Brings SDL's video up on this thread.
  private static func connect() throws(WindowError) {
    let displays = ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "SDL_VIDEODRIVER"]
    guard displays.contains(where: { environment($0) != nil }) else {
      throw .noDisplay(
        "There is no display to open a window on: neither DISPLAY nor WAYLAND_DISPLAY is set. Start this from a desktop "
          + "session, or name a running X server (for example DISPLAY=:0).")
    }
    SDL_SetMainReady()
    // Ctrl-C is the program's affair.
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1")
    SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0")
    SDL_SetHint(SDL_HINT_VIDEO_MINIMIZE_ON_FOCUS_LOSS, "0")
    // Otherwise SDL tries windows that are not visible, or the machine's console. SDL_VIDEODRIVER overrides this.
    let mayBeWayland = environment("XDG_RUNTIME_DIR") != nil || environment("WAYLAND_SOCKET") != nil
    SDL_SetHint(SDL_HINT_VIDEODRIVER, mayBeWayland ? "x11,wayland" : "x11")
    // Without, a press just after the focus came is no press: the local picture would not be gripped.
    SDL_SetHint(SDL_HINT_MOUSE_FOCUS_CLICKTHROUGH, "1")
    SDL_SetHint(SDL_HINT_APP_NAME, "rtcast")
    guard SDL_InitSubSystem(SDL_INIT_VIDEO) == 0 else {
      let name = environment("DISPLAY").map { "X display \($0)" } ?? environment("WAYLAND_DISPLAY") ?? "display"
      throw .noDisplay(
        "The \(name) cannot be opened (\(SDL.error)): check that it is running and that this user may use it.")
    }
    SDL_StopTextInput()
  }

  /// Nil when unset or empty.
  private static func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}

/// The events of the window for other threads, from its thread.
private final class WindowEvents: Sendable {
  let feed: AsyncStream<CallWindow.Event>.Continuation
  private let board: WindowBoard
  private let opened: @Sendable (Result<Void, WindowError>) -> Void
  private let isOpen = Atomic(false)

  init(
    _ board: WindowBoard, _ feed: AsyncStream<CallWindow.Event>.Continuation,
    _ opened: @escaping @Sendable (Result<Void, WindowError>) -> Void
  ) {
    (self.board, self.feed, self.opened) = (board, feed, opened)
  }

  func noteOpen() {
    isOpen.store(true, ordering: .releasing)
    opened(.success(()))
  }

  func noteFailure(_ error: WindowError) {
    feed.finish()
    board.noteEnded()
    opened(.failure(error))
  }

  func noteEnd(_ event: CallWindow.Event?) {
    board.noteEnded()
    // Reported last: if the program ends because of it, the window's thread must not run while the libraries shut down.
    if let event { feed.yield(event) }
    feed.finish()
  }

  /// The X server is gone; nothing is taken down.
  func noteLost() {
    board.noteClosing()
    if isOpen.load(ordering: .acquiring) {
      noteEnd(
        .lost(
          "The X display went away, and the window with it. For a window on another one, start this program again."))
    } else {
      noteFailure(.noDisplay("The X display went away while the window was being opened on it."))
    }
  }
}

enum SDL {
  /// SDL's error of the last failed call on this thread.
  static var error: String {
    let text = String(cString: SDL_GetError())
    return text.isEmpty ? "no reason given" : text
  }
}

/// Why a window could not be opened. Each carries a sentence for the person who asked for it.
public enum WindowError: Error, Hashable, Sendable {
  /// There is no display for a window.
  case noDisplay(String)
  /// The display is there and refused.
  case refused(String)
  /// This process has its window already: SDL serves one thread, and that one is the window's.
  case alreadyOpen

  /// A sentence for the user: the reason and the remedy.
  public var sentence: String {
    switch self {
    case .noDisplay(let sentence), .refused(let sentence): sentence
    case .alreadyOpen: "This program has a call window already; close it before opening another."
    }
  }
}
