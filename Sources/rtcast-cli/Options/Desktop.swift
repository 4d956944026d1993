import Glibc
import RTCCapturePortal
import RTCCaptureWayland
import RTCCaptureX11
import RTCMedia

/// The desktop that this program was started in, and so the one whose screen is cast unless an option names another.
struct Desktop {
  /// The way to capture the screen.
  enum Way {
    case x11
    /// The compositor's ext-image-copy-capture or wlr-screencopy.
    case screencopy
    case portal(PortalCaptureOptions.Backend)
  }

  /// The Wayland desktop of WAYLAND_DISPLAY; nil if the variable is not set.
  let wayland: Result<WaylandScreens, CaptureError>?
  /// The ways of the session beside the compositor's own protocol; nil if it was not asked.
  let sharing: Result<PortalDesktop, CaptureError>?

  /// An X display that an option names.
  static let x11 = Desktop(wayland: nil, sharing: nil)

  /// Asks the compositor of WAYLAND_DISPLAY, if there is one, and the desktop session if that cannot be captured.
  static var current: Desktop {
    isSet("WAYLAND_DISPLAY") ? wayland(at: nil) : x11
  }

  /// Asks the compositor at this socket, nil: of WAYLAND_DISPLAY, and the desktop session if that cannot be captured. Blocks for
  /// two seconds at most, and as long again for the session.
  static func wayland(at socket: String?) -> Desktop {
    let wayland = Result { () throws(CaptureError) in try WaylandScreens.list(socket: socket) }
    guard let found = try? wayland.get(), found.refusal != nil else { return Desktop(wayland: wayland, sharing: nil) }
    return Desktop(wayland: wayland, sharing: Result { () throws(CaptureError) in try PortalDesktop() })
  }

  /// The way to capture the screen. Both variables are set in a Wayland desktop with XWayland, which has no screen; in a
  /// nested X server, which has one; and after an old session.
  var way: Way {
    guard let wayland else { return .x11 }
    guard let found = try? wayland.get() else { return Self.isSet("DISPLAY") ? .x11 : .screencopy }
    if found.refusal == nil { return .screencopy }
    if let backend = (try? sharing?.get())?.backend { return .portal(backend) }
    guard Self.isSet("DISPLAY") else { return .screencopy }
    // The refusal of the desktop that is there says more than that of XWayland.
    return (try? X11Screens.list())?.screenRefusal != nil ? .screencopy : .x11
  }

  /// Whether the screen is that of the Wayland desktop.
  var isWayland: Bool { if case .x11 = way { false } else { true } }

  /// The reason why the Wayland desktop cannot be captured; nil: it can.
  var refusal: CaptureError? {
    if case .portal = way { return nil }
    switch wayland {
    case .success(let found): return found.refusal
    case .failure(let error): return error
    case nil: return nil
    }
  }

  static func isSet(_ name: String) -> Bool { getenv(name).map { $0.pointee != 0 } ?? false }
}
