import CSDL2
import Glibc
import Synchronization

/// Keeps a broken display from ending the process.
///
/// Xlib reports a lost server, and every refused request, to handlers of the whole process, which end it by default.
/// While a window is open, ours replace them: they handle errors of the window's thread, the only one that SDL is
/// called on, and pass on the others.
///
/// A lost server cannot be recovered: neither Xlib nor SDL checks its own calls for it, and would next use a null
/// pointer or wait for an answer without end. So the handler reports that the window is lost and never returns: its
/// thread sleeps within Xlib until the process ends.
enum DisplayGuard {
  /// The window's thread; 0 without a window.
  private static let owner = Atomic<UInt>(0)
  /// The X window that must not vanish; 0 for none.
  private static let xWindow = Atomic<UInt>(0)
  private static let isTakenAway = Atomic(false)
  private static let library = Mutex<Library?>(nil)
  /// Called when the server is lost.
  private static let whenLost = Mutex<(@Sendable () -> Void)?>(nil)

  /// libX11, as SDL loads it, and the handlers before ours.
  private struct Library: @unchecked Sendable {
    // Invariant for `@unchecked Sendable`: set once and never changed; the handle is never closed.
    let handle: UnsafeMutableRawPointer
    let error: XErrorHandler?
    let lost: XIOErrorHandler?
  }

  /// The calling thread is SDL's from here to `end`.
  /// - Parameter lost: called at most once, on this thread, which does nothing else ever after.
  static func begin(whenLost lost: @escaping @Sendable () -> Void) {
    whenLost.withLock { $0 = lost }
    isTakenAway.store(false, ordering: .releasing)
    owner.store(UInt(pthread_self()), ordering: .releasing)
    _ = handle()
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

  /// From here to `endWatching` the window must not vanish.
  static func watch(_ window: OpaquePointer) { xWindow.store(csdl_x11_window(window), ordering: .releasing) }

  /// Before the window is taken down.
  static func endWatching(_ window: OpaquePointer) {
    xWindow.store(0, ordering: .releasing)
    if isWindowTakenAway, let handle = handle() { csdl_xlib_pretend_unmapped(handle, window) }
  }

  /// SDL has let the display go.
  static func end() {
    owner.store(0, ordering: .releasing)
    whenLost.withLock { $0 = nil }
  }

  /// Sets the part of the title that `SDL_SetWindowTitle` omits on X11 without a locale.
  static func setTitle(_ title: String, of window: OpaquePointer) {
    if let handle = handle() { csdl_xlib_set_title(handle, window, title) }
  }

  /// Our window is no more, on a display that is.
  static var isWindowTakenAway: Bool { isTakenAway.load(ordering: .acquiring) }

  private static var isOurs: Bool { UInt(pthread_self()) == owner.load(ordering: .acquiring) }

  /// The handlers before ours; the lock is free, as Xlib is never called under it.
  fileprivate static func error(_ display: UnsafeMutablePointer<Display>?, _ event: UnsafeMutablePointer<XErrorEvent>?)
    -> Int32
  {
    guard isOurs else { return library.withLock { $0?.error }?(display, event) ?? 0 }
    if let id = event?.pointee.resourceid, id != 0, id == xWindow.load(ordering: .acquiring) {
      isTakenAway.store(true, ordering: .releasing)
    }
    return 0
  }

  fileprivate static func lost(_ display: UnsafeMutablePointer<Display>?) -> Int32 {
    guard isOurs else { return library.withLock { $0?.lost }?(display) ?? 0 }
    let last = whenLost.withLock { whenLost in
      defer { whenLost = nil }
      return whenLost
    }
    if let display { csdl_xlib_unlock(display) }
    last?()
    // Signals are handled by other threads.
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
    while true { pause() }
  }
}

private func noteError(_ display: UnsafeMutablePointer<Display>?, _ event: UnsafeMutablePointer<XErrorEvent>?) -> Int32
{
  DisplayGuard.error(display, event)
}

private func noteLost(_ display: UnsafeMutablePointer<Display>?) -> Int32 { DisplayGuard.lost(display) }
