public import RTCCapture
public import RTCMedia
import RTCNet

/// The part of an X display to capture, and how.
public struct X11CaptureOptions: Hashable, Sendable {
  /// The part of the display that is captured.
  public enum Target: Hashable, Sendable {
    /// Everything the display shows, all monitors.
    case screen
    /// One monitor, by its index in `X11Screens.monitors` or its name.
    case monitor(String)
    /// A part of the screen, in pixels.
    case region(PixelRect)
    /// One window, whole even when covered, by its number (decimal or 0x…) or a part of its title.
    case window(String)
  }

  /// The name of the display, as in DISPLAY; nil means the value of DISPLAY.
  public var display: String?
  /// The part of the display that is captured.
  public var target: Target
  /// Whether the pointer is drawn into the picture, or its position is reported instead.
  public var cursor: Bool

  /// Creates options. The defaults are the whole of DISPLAY, with its pointer.
  public init(display: String? = nil, target: Target = .screen, cursor: Bool = true) {
    self.display = display
    self.target = target
    self.cursor = cursor
  }
}

/// Captures an X display, a part of it, or a window, by MIT-SHM and XDamage, on its own thread.
///
/// Frames are BGRA views of memory shared with the server. The size of the picture is the target's own, whatever size
/// the format asks for; it follows when the target is resized, and the first frame of the new size has no damage list.
/// Nothing is grabbed while nothing changes.
///
/// Under Wayland, XWayland has no picture of the whole screen: everything but a window is refused there with `.unavailable`.
public final class X11Capturer: CursorCapturer, PlacementCapturer {
  private let options: X11CaptureOptions
  private let onNotice: @Sendable (String) -> Void
  private let runs = ScreenRuns(name: "rtc-x11")

  /// - Parameter onNotice: gets a sentence, once each, when the display lacks something and capturing costs more for
  ///   it; called on the capture thread.
  public init(
    options: X11CaptureOptions = X11CaptureOptions(), onNotice: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.options = options
    self.onNotice = onNotice
  }

  /// The formats that the display offers: one format at the target's present size; empty when the target cannot be
  /// captured now.
  public var supportedFormats: [VideoFormat] {
    let size = try? X11Connection.visit(display: options.display, greetingLimit: AnswerWatch.halfLimit) {
      connection throws(CaptureError) in
      if case .window(let wanted) = options.target { return try connection.window(wanted).rect.size }
      return try X11Source.onScreen(options.target, connection).size
    }
    return size.map { [VideoFormat(size: $0, frameRates: 0...240, pixelFormat: .bgra)] } ?? []
  }

  /// Always true: the pictures hold text that must stay sharp.
  public var isScreencast: Bool { true }

  /// Connects to the display on a thread of its own, and reports the result to the consumer on that thread. Only the
  /// frame rate of `format` is used, in pictures a second, 0…1000. Any thread may call this.
  public func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    let (options, onNotice, cursor, placement) = (options, onNotice, runs.cursor, runs.placement)
    runs.start(consumer) { run in
      X11CaptureLoop.run(options, rate: format.frameRates.upperBound, consumer, cursor, placement, run, onNotice)
    }
  }

  /// Ends capturing. After it returns, the consumer is not called any more. Any thread may call this, any number of
  /// times.
  public func stopCapture() { runs.stop() }

  package var placement: ScreenPlacement? { runs.placement.now }

  /// Whether the options ask for the pointer.
  public var hasCursor: Bool { options.cursor }

  /// Sets the consumer of the pointer's positions, which are reported as the pointer moves, at most sixty a second. Any
  /// thread may call this.
  public func setCursorConsumer(_ consumer: (any CursorConsumer)?) { runs.setCursorConsumer(consumer) }

  /// Sets whether frames are to show the pointer, in later runs too. Any thread may call this.
  public func setDrawsCursor(_ isDrawn: Bool) { runs.setDrawsCursor(isDrawn) }
}

extension PixelRect {
  var size: PixelSize { PixelSize(width: width, height: height) }
}
