public import RTCMedia

/// A monitor, as RandR describes it.
public struct X11Monitor: Hashable, Sendable {
  /// The monitor's place in the server's list, from 0.
  public var index: Int
  /// RandR's name of the monitor, such as `HDMI-1`.
  public var name: String
  /// The monitor's place on the screen, in pixels.
  public var rect: PixelRect
  /// Whether the desktop calls this monitor its first.
  public var isPrimary: Bool
}

/// A window with a title.
public struct X11Window: Hashable, Sendable {
  /// The X server's number of the window.
  public var id: UInt32
  /// The text of the window's title bar; may be empty.
  public var title: String
  /// The window's place on the screen, in pixels, without its border.
  public var rect: PixelRect
  /// Whether the window is shown, perhaps under others; false when minimised.
  public var isMapped: Bool

  /// Creates a window from the server's description.
  public init(id: UInt32, title: String, rect: PixelRect, isMapped: Bool) {
    self.id = id
    self.title = title
    self.rect = rect
    self.isMapped = isMapped
  }

  /// The number in the form that window tools print.
  public var idText: String { "0x" + String(id, radix: 16) }
}

/// The parts of an X display that can be captured.
public struct X11Screens: Hashable, Sendable {
  /// The name of the display, as in DISPLAY.
  public var display: String
  /// The size of the whole screen, all monitors, in pixels.
  public var size: PixelSize
  /// The monitors, in RandR's order.
  public var monitors: [X11Monitor]
  /// The windows that can be captured, as the window manager lists them.
  public var windows: [X11Window]
  /// The reason why only windows can be captured, not the screen, its monitors or regions, as under Wayland; nil when
  /// all can be.
  public var screenRefusal: CaptureError?

  /// Asks `display`, or the display that DISPLAY names. Blocks for a few round trips to the server.
  public static func list(display: String? = nil) throws(CaptureError) -> X11Screens {
    try X11Connection.visit(display: display) { connection throws(CaptureError) in
      guard let size = connection.rootSize() else {
        throw .unavailable("The X display \(connection.displayName) went away.")
      }
      return X11Screens(
        display: connection.displayName, size: size, monitors: connection.monitors(),
        windows: connection.titledWindows(), screenRefusal: connection.hiddenRoot())
    }
  }
}

/// The features of an X display that a capturer uses, for a report to a person.
public struct X11Probe: Hashable, Sendable {
  /// An X extension that capturing uses.
  public struct Extension: Hashable, Sendable {
    /// The server's name of the extension, such as `DAMAGE`.
    public var name: String
    /// The version; nil when the server does not have the extension.
    public var version: String?
    /// The function that is lost without the extension.
    public var purpose: String
  }

  /// The name of the display, as in DISPLAY.
  public var display: String
  /// The size of the screen, in pixels.
  public var size: PixelSize
  /// The number of bits of a pixel.
  public var depth: Int
  /// The extensions that capturing uses.
  public var extensions: [Extension]
  /// Whether the server can write into memory of this process: false on remote displays.
  public var sharesMemory: Bool
  /// Whether pixels can be passed on as they are; false when each must be converted.
  public var isDirect: Bool
  /// The reason why only windows can be captured, not the screen, as under Wayland; nil when the screen can be.
  public var screenRefusal: CaptureError?

  /// Asks `display`, or the display that DISPLAY names. Blocks for a few round trips to the server.
  public init(display: String? = nil) throws(CaptureError) {
    self = try X11Connection.visit(display: display) { connection throws(CaptureError) in
      try X11Probe(connection)
    }
  }

  private init(_ connection: X11Connection) throws(CaptureError) {
    let found = connection.extensions
    guard let geometry = connection.geometry(of: connection.root),
      let attributes = connection.attributes(of: connection.root)
    else { throw .unavailable("The X display \(connection.displayName) went away.") }
    display = connection.displayName
    size = geometry.size
    depth = Int(geometry.depth)
    screenRefusal = connection.hiddenRoot()
    isDirect = try PixelLayout(visual: attributes.visual, depth: geometry.depth, on: connection).isBGRA
    sharesMemory =
      found.shm != nil && ScreenPicture(size: PixelSize(width: 16, height: 16), sharedOver: connection) != nil
    extensions = [
      Extension(name: "MIT-SHM", version: found.shm?.description, purpose: "pictures are not copied through a socket"),
      Extension(name: "DAMAGE", version: found.damage?.description, purpose: "an unchanged screen costs nothing"),
      Extension(
        name: "XFIXES", version: found.fixes?.description,
        purpose: "the pointer is shown, and only changed rectangles are read"),
      Extension(
        name: "RANDR", version: found.randr?.description,
        purpose: "single monitors can be cast, and changes of size are followed"),
      Extension(name: "Composite", version: found.composite?.description, purpose: "covered windows can be cast"),
      Extension(
        name: "XInputExtension", version: found.input?.description, purpose: "pointer motion is reported, not polled"),
    ]
  }
}
