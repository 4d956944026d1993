public import RTCCapture
public import RTCMedia
import RTCNet

/// The part of a Wayland desktop to capture, and how.
public struct WaylandCaptureOptions: Hashable, Sendable {
  /// The part of the desktop that is captured.
  public enum Target: Hashable, Sendable {
    /// All monitors, as they stand beside each other.
    case screen
    /// One monitor, by its index in `WaylandScreens.monitors` or its name.
    case monitor(String)
    /// A part of the desktop, in the desktop's units: pixels, where no monitor is scaled.
    case region(PixelRect)
  }

  /// The name of the compositor's socket, as in WAYLAND_DISPLAY; nil means the value of WAYLAND_DISPLAY.
  public var socket: String?
  /// The part of the desktop that is captured.
  public var target: Target
  /// Whether the compositor draws the pointer into the picture.
  public var cursor: Bool

  /// Creates options. The defaults are the whole desktop of WAYLAND_DISPLAY, with its pointer.
  public init(socket: String? = nil, target: Target = .screen, cursor: Bool = true) {
    self.socket = socket
    self.target = target
    self.cursor = cursor
  }
}

/// Captures the monitors of a Wayland compositor that has ext-image-copy-capture or wlr-screencopy (sway, labwc, Hyprland,
/// river, cage), on its own thread.
///
/// Frames are views of memory shared with the compositor: BGRA, or RGBA where the compositor writes that. Only pictures of
/// several monitors, and of turned ones, are put together here, as BGRA. The size of the picture is the target's own,
/// whatever size the format asks for; it follows when the target is resized. The compositor copies a monitor when it has
/// changed, so nothing is done while nothing changes.
public final class WaylandCapturer: VideoCapturer, PlacementCapturer {
  private let options: WaylandCaptureOptions
  private let onNotice: @Sendable (String) -> Void
  private let runs = ScreenRuns(name: "rtc-wayland")

  /// - Parameter onNotice: gets a sentence, once each, when the compositor lacks something and capturing costs more for
  ///   it; called on the capture thread.
  public init(
    options: WaylandCaptureOptions = WaylandCaptureOptions(),
    onNotice: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.options = options
    self.onNotice = onNotice
  }

  /// The formats that the compositor offers: one format at the target's present size; empty when the target cannot be
  /// captured now.
  public var supportedFormats: [VideoFormat] {
    let size = try? WaylandConnection.visit(options.socket, limit: .seconds(1)) {
      connection throws(CaptureError) in try connection.plan(options.target).size
    }
    return size.map { [VideoFormat(size: $0, frameRates: 0...240, pixelFormat: .bgra)] } ?? []
  }

  /// Always true: the pictures hold text that must stay sharp.
  public var isScreencast: Bool { true }

  /// Connects to the compositor on a thread of its own, and reports the result to the consumer on that thread. Only the
  /// frame rate of `format` is used, in pictures a second, 0…1000. Any thread may call this.
  public func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    let (options, onNotice, placement) = (options, onNotice, runs.placement)
    runs.start(consumer) { run in
      WaylandCaptureLoop.run(options, rate: format.frameRates.upperBound, consumer, placement, run, onNotice)
    }
  }

  /// Ends capturing. After it returns, the consumer is not called any more. Any thread may call this, any number of
  /// times.
  public func stopCapture() { runs.stop() }

  package var placement: ScreenPlacement? { runs.placement.now }
}
