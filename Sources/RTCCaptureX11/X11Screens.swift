public import RTCMedia

/// A monitor as RandR knows it.
public struct X11Monitor: Hashable, Sendable {
  /// Its place in the server's list, from 0.
  public var index: Int
  /// As RandR names it, such as `HDMI-1`.
  public var name: String
  /// Where it lies on the screen, in pixels.
  public var rect: PixelRect
  /// The one that the desktop calls its first.
  public var isPrimary: Bool
}

/// A window with a title.
public struct X11Window: Hashable, Sendable {
  /// The X server's number of the window.
  public var id: UInt32
  /// What its title bar says; may be empty.
  public var title: String
  /// Where it lies on the screen, in pixels, without its border.
  public var rect: PixelRect
  /// It is shown, perhaps under others; false when minimised.
  public var isMapped: Bool

  /// A window as the server tells of it.
  public init(id: UInt32, title: String, rect: PixelRect, isMapped: Bool) {
    self.id = id
    self.title = title
    self.rect = rect
    self.isMapped = isMapped
  }

  /// The number as window tools print it.
  public var idText: String { "0x" + String(id, radix: 16) }
}

/// What of an X display can be captured.
public struct X11Screens: Hashable, Sendable {
  /// Its name, as in DISPLAY.
  public var display: String
  /// Of the whole screen, all monitors, in pixels.
  public var size: PixelSize
  /// In RandR's order.
  public var monitors: [X11Monitor]
  /// Those that can be captured, as the window manager lists them.
  public var windows: [X11Window]
  /// Why the screen, its monitors and regions cannot be captured, windows alone, as under Wayland; nil when they can be.
  public var screenRefusal: CaptureError?

  /// Asks `display`, or what DISPLAY names. Blocks for a few round trips to the server.
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

/// What an X display offers to a capturer, for a report to a person.
public struct X11Probe: Hashable, Sendable {
  /// An X extension that capturing uses.
  public struct Extension: Hashable, Sendable {
    /// As the server names it, such as `DAMAGE`.
    public var name: String
    /// Nil when the server does not have it.
    public var version: String?
    /// What is lost without it.
    public var purpose: String
  }

  /// Its name, as in DISPLAY.
  public var display: String
  /// Of the screen, in pixels.
  public var size: PixelSize
  /// Bits of a pixel.
  public var depth: Int
  /// Those that capturing uses.
  public var extensions: [Extension]
  /// The server can write into memory of this process: false on remote displays.
  public var sharesMemory: Bool
  /// Pixels can be passed on as they are; false when each must be converted.
  public var isDirect: Bool
  /// Why the screen cannot be captured, windows alone, as under Wayland; nil when it can be.
  public var screenRefusal: CaptureError?

  /// Asks `display`, or what DISPLAY names. Blocks for a few round trips to the server.
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
