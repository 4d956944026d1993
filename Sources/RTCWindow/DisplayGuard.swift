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

  /// libX11, as SDL loads it, and the handlers before ours.
  private struct Library: @unchecked Sendable {
    // Invariant for `@unchecked Sendable`: set once and never changed; the handle is never closed.
    let handle: UnsafeMutableRawPointer
    let error: XErrorHandler?
    let lost: XIOErrorHandler?
  }

  /// From here on the calling thread is SDL's. Before SDL connects, as SDL keeps the error handler it finds.
  static func begin() {
    owner.store(UInt(pthread_self()), ordering: .releasing)
    isLost.store(false, ordering: .releasing)
    library.withLock { library in
      guard library == nil, let handle = csdl_xlib() else { return }
      var (error, lost): (XErrorHandler?, XIOErrorHandler?) = (nil, nil)
      guard csdl_xlib_set_handlers(handle, noteError, noteLost, &error, &lost) == SDL_TRUE else { return }
      library = Library(handle: handle, error: error, lost: lost)
    }
  }

  /// SDL is up: `wake` works from here to `endWatching`.
  static func watch(_ window: OpaquePointer) {
    xWindow.store(csdl_x11_window(window), ordering: .releasing)
    isWatching.store(true, ordering: .releasing)
  }

  static func endWatching() {
    isWatching.store(false, ordering: .releasing)
    xWindow.store(0, ordering: .releasing)
  }

  /// SDL has let the display go.
  static func end() { owner.store(0, ordering: .releasing) }

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
    if let handle = library.withLock({ $0?.handle }) { csdl_xlib_survive(handle, display) }
    lose()
    return 0
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
