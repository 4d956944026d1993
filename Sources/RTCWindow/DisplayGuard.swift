import CSDL2
import Glibc
import Synchronization

/// Keeps a broken display from ending the process.
///
/// Xlib reports a lost server, and every refused request, to handlers of the whole process, which end it by default. While
/// a window is open ours stand in front: they keep what concerns SDL's connections, known by the thread the trouble
/// is met on, and pass on the rest. SDL has two connections, one used by its own thread and one by those who wake it.
enum DisplayGuard {
  /// The window's thread; 0 without a window.
  private static let owner = Atomic<UInt>(0)
  /// The thread that is waking the window's just now.
  private static let waker = Atomic<UInt>(0)
  private static let isLost = Atomic(false)
  /// The window is open, so that its thread may sleep and needs waking when the display is lost.
  private static let isWatching = Atomic(false)
  /// The X window that must not vanish; 0 for none.
  private static let xWindow = Atomic<UInt>(0)
  private static let library = Mutex<Library?>(nil)
  /// What Xlib itself does with a new connection.
  private static let initialize = Mutex<csdl_connection_hook?>(nil)
  /// The addresses of those opened since SDL began to connect.
  private static let connections = Mutex<[UInt]>([])

  /// libX11, as SDL loads it, and the handlers before ours.
  private struct Library: @unchecked Sendable {
    // Invariant for `@unchecked Sendable`: set once and never changed; the handle is never closed.
    let handle: UnsafeMutableRawPointer
    let error: XErrorHandler?
    let lost: XIOErrorHandler?
  }

  /// Lets SDL connect to its display on the calling thread, which is SDL's from here to `end`.
  static func connect(_ connect: () -> Bool) -> Bool {
    owner.store(UInt(pthread_self()), ordering: .releasing)
    isLost.store(false, ordering: .releasing)
    guard let handle = handle(), let hook = csdl_xlib_connection_hook(handle), let before = hook.pointee else {
      return connect()
    }
    initialize.withLock { $0 = before }
    hook.pointee = noteConnection
    let isConnected = connect()
    hook.pointee = before
    let opened = connections.withLock { connections in
      defer { connections.removeAll() }
      return connections
    }
    if isConnected {
      for address in opened { csdl_xlib_survive(handle, OpaquePointer(bitPattern: address)) }
    }
    return isConnected
  }

  /// libX11 with our handlers in it, which SDL finds and keeps; nil on a machine without.
  private static func handle() -> UnsafeMutableRawPointer? {
    library.withLock { library in
      if let library { return library.handle }
      var (error, lost): (XErrorHandler?, XIOErrorHandler?) = (nil, nil)
      guard let handle = csdl_xlib(), csdl_xlib_set_handlers(handle, noteError, noteLost, &error, &lost) == SDL_TRUE
      else { return nil }
      library = Library(handle: handle, error: error, lost: lost)
      return handle
    }
  }

  /// SDL is up: `wake` works from here to `endWatching`.
  static func watch(_ window: OpaquePointer) {
    xWindow.store(csdl_x11_window(window), ordering: .releasing)
    isWatching.store(true, ordering: .releasing)
  }

  /// Before the window is taken down, after the last `wake`.
  static func endWatching(_ window: OpaquePointer) {
    isWatching.store(false, ordering: .releasing)
    xWindow.store(0, ordering: .releasing)
    // Also while the display is there: it may go between this line and SDL's wait.
    if let handle = handle() { csdl_xlib_pretend_unmapped(handle, window) }
  }

  /// SDL has let the display go.
  static func end() { owner.store(0, ordering: .releasing) }

  /// What SDL leaves out of `SDL_SetWindowTitle` on X11, for which it needs a locale.
  static func setTitle(_ title: String, of window: OpaquePointer) {
    if let handle = handle() { csdl_xlib_set_title(handle, window, title) }
  }

  /// The display, or our window on it, is no more.
  static var hasLostDisplay: Bool { isLost.load(ordering: .acquiring) }

  /// Makes the window's thread look at its board. One thread at a time, which the board's lock sees to.
  static func wake() {
    waker.store(UInt(pthread_self()), ordering: .releasing)
    push()
    waker.store(0, ordering: .releasing)
  }

  private static func push() {
    var event = SDL_Event()
    event.type = SDL_USEREVENT.rawValue
    SDL_PushEvent(&event)
  }

  fileprivate static func isOurs() -> Bool {
    let thread = UInt(pthread_self())
    return thread == owner.load(ordering: .acquiring) || thread == waker.load(ordering: .acquiring)
  }

  /// The handlers before ours; the lock is free, as nobody calls Xlib under it.
  fileprivate static func error(_ display: OpaquePointer?, _ event: UnsafeMutablePointer<XErrorEvent>?) -> Int32 {
    guard isOurs() else { return library.withLock { $0?.error }?(display, event) ?? 0 }
    if let id = event?.pointee.resourceid, id != 0, id == xWindow.load(ordering: .acquiring) { lose() }
    return 0
  }

  fileprivate static func lost(_ display: OpaquePointer?) -> Int32 {
    guard isOurs() else { return library.withLock { $0?.lost }?(display) ?? 0 }
    lose()
    return 0
  }

  fileprivate static func note(_ connection: OpaquePointer?) -> Int32 {
    if isOurs(), let connection { connections.withLock { $0.append(UInt(bitPattern: connection)) } }
    return initialize.withLock { $0 }?(connection) ?? 0
  }

  /// On the window's own thread SDL may be about to sleep on a connection that is dead: an event of ours ends that. A
  /// waker holds the connection that waking needs, and the window's thread finds out by itself.
  private static func lose() {
    guard !isLost.exchange(true, ordering: .acquiringAndReleasing), isWatching.load(ordering: .acquiring),
      UInt(pthread_self()) == owner.load(ordering: .acquiring)
    else { return }
    push()
  }
}

private func noteError(_ display: OpaquePointer?, _ event: UnsafeMutablePointer<XErrorEvent>?) -> Int32 {
  DisplayGuard.error(display, event)
}

private func noteLost(_ display: OpaquePointer?) -> Int32 { DisplayGuard.lost(display) }

private func noteConnection(_ display: OpaquePointer?) -> Int32 { DisplayGuard.note(display) }
