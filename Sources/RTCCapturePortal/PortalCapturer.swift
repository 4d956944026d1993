import RTCCapture
public import RTCMedia

/// The part of a desktop to capture, and how the desktop is asked for it.
public struct PortalCaptureOptions: Sendable {
  /// How the desktop is asked.
  public enum Backend: Hashable, Sendable {
    /// By GNOME's own interface, without a dialog: for sessions where nobody sits.
    case mutter
    /// By xdg-desktop-portal, which asks its user in a dialog.
    case portal
  }

  /// The part of the desktop that is captured.
  public enum Target: Hashable, Sendable {
    /// All monitors; by the portal, what the user chooses.
    case screen
    /// One monitor, by its index in the desktop's list or its name. Not by the portal.
    case monitor(String)
    /// A part of the desktop, in the desktop's units; by the portal, a part of what the user chooses, in pixels.
    case region(PixelRect)
    /// A monitor that the desktop makes for this capture, and removes when it ends. The desktop may give it another size.
    case virtual(PixelSize)

    /// The size of the monitor that is made for this capture.
    var virtualSize: PixelSize? { if case .virtual(let size) = self { size } else { nil } }
  }

  /// Where the portal's token is kept, which restores the user's choice without a dialog.
  public struct TokenStore: Sendable {
    /// Returns the token that was stored last; nil: none.
    public var load: @Sendable () -> String?
    /// Stores a token in place of the last.
    public var store: @Sendable (String) -> Void

    /// A store by two closures, which are called on the capture thread.
    public init(load: @escaping @Sendable () -> String?, store: @escaping @Sendable (String) -> Void) {
      self.load = load
      self.store = store
    }
  }

  /// How the desktop is asked.
  public var backend: Backend
  /// The part of the desktop that is captured.
  public var target: Target
  /// Whether the pointer is drawn into the picture, or its position is reported instead.
  public var cursor: Bool
  /// Nil: the portal asks every time.
  public var tokens: TokenStore?

  /// Creates options. The defaults are the whole desktop, with its pointer.
  public init(backend: Backend, target: Target = .screen, cursor: Bool = true, tokens: TokenStore? = nil) {
    self.backend = backend
    self.target = target
    self.cursor = cursor
    self.tokens = tokens
  }
}

/// Captures a Wayland desktop that passes its pictures on by PipeWire: GNOME by Mutter's own interface, and every desktop
/// with xdg-desktop-portal. On its own thread.
///
/// Frames are views of memory shared with the desktop, BGRA or RGBA; pictures with the pointer drawn in, and turned ones,
/// are put together here, as BGRA. The size of the picture is the target's own, whatever size the format asks for.
public final class PortalCapturer: CursorCapturer {
  private let options: PortalCaptureOptions
  private let onNotice: @Sendable (String) -> Void
  private let runs = ScreenRuns(name: "rtc-portal")

  /// - Parameter onNotice: gets a sentence when the desktop lacks something; called on the capture thread.
  public init(options: PortalCaptureOptions, onNotice: @escaping @Sendable (String) -> Void = { _ in }) {
    self.options = options
    self.onNotice = onNotice
  }

  /// One format. Its size is that of a virtual monitor; others are not known before the desktop has answered, and a usual
  /// one is given.
  public var supportedFormats: [VideoFormat] {
    let size = options.target.virtualSize ?? PixelSize(width: 1920, height: 1080)
    return [VideoFormat(size: size, frameRates: 0...240, pixelFormat: .bgra)]
  }

  /// Always true: the pictures hold text that must stay sharp.
  public var isScreencast: Bool { true }

  /// Asks the desktop on a thread of its own, and reports the result to the consumer on that thread, by the portal after
  /// its user has answered. Only the frame rate of `format` is used, in pictures a second, 0…1000. Any thread may call this.
  public func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    let (options, onNotice, cursor) = (options, onNotice, runs.cursor)
    runs.start(consumer) { run in
      PortalCaptureLoop.run(options, rate: format.frameRates.upperBound, consumer, cursor, run, onNotice)
    }
  }

  /// Ends capturing. After it returns, the consumer is not called any more. Any thread may call this, any number of
  /// times.
  public func stopCapture() { runs.stop() }

  /// Whether the options ask for the pointer.
  public var hasCursor: Bool { options.cursor }

  /// Sets the consumer of the pointer's positions, which are reported as the desktop tells them. Any thread may call this.
  public func setCursorConsumer(_ consumer: (any CursorConsumer)?) { runs.setCursorConsumer(consumer) }

  /// Sets whether frames are to show the pointer, in later runs too. Any thread may call this.
  public func setDrawsCursor(_ isDrawn: Bool) { runs.setDrawsCursor(isDrawn) }
}
