public import RTCMedia
import RTCPrimitives

/// A monitor of a Wayland desktop.
public struct WaylandMonitor: Hashable, Sendable {
  /// The monitor's place in the compositor's list, from 0.
  public var index: Int
  /// The compositor's name of the monitor, such as `DP-1`.
  public var name: String
  /// The monitor's place in the desktop, in the desktop's units.
  public var rect: PixelRect
  /// The size of its picture, in pixels.
  public var size: PixelSize
}

/// The parts of a Wayland desktop that can be captured.
public struct WaylandScreens: Hashable, Sendable {
  /// The name of the socket, as in WAYLAND_DISPLAY.
  public var socket: String
  /// The name of the compositor's program; nil if it is not known.
  public var compositor: String?
  /// The size of the whole desktop, in its units.
  public var size: PixelSize
  /// The monitors, in the compositor's order.
  public var monitors: [WaylandMonitor]
  /// The version of wlr-screencopy; nil when the compositor has none.
  public var screencopy: Int?
  /// The version of ext-image-copy-capture, which is used before wlr-screencopy; nil when the compositor has none.
  public var imageCopy: Int?
  /// The reason why nothing can be captured; nil when it can be.
  public var refusal: CaptureError?

  /// Asks the compositor of `socket`, or of WAYLAND_DISPLAY. Blocks for a few round trips, two seconds at most.
  public static func list(socket: String? = nil) throws(CaptureError) -> WaylandScreens {
    try WaylandConnection.visit(socket) { connection throws(CaptureError) in
      let monitors = connection.shownMonitors.enumerated().map { index, monitor in
        WaylandMonitor(index: index, name: monitor.name, rect: monitor.place, size: monitor.size)
      }
      let whole = monitors.reduce(PixelRect(x: 0, y: 0, width: 0, height: 0)) { $0.union($1.rect) }
      return WaylandScreens(
        socket: connection.name, compositor: connection.compositor, size: whole.size, monitors: monitors,
        screencopy: connection.copyVersion, imageCopy: connection.imageCopyVersion, refusal: connection.refusal)
    }
  }
}

extension WaylandConnection {
  /// The outputs that have a picture, in the compositor's order.
  var shownOutputs: [WaylandOutput] { outputs.filter { $0.place != nil && $0.pictureSize != nil } }

  /// The monitors of `shownOutputs`.
  var shownMonitors: [ScreenPlan.Monitor] {
    shownOutputs.enumerated().compactMap { index, output in
      guard let size = output.pictureSize, let place = output.place else { return nil }
      return ScreenPlan.Monitor(name: output.name.isEmpty ? "\(index)" : output.name, size: size, place: place)
    }
  }

  /// The version of wlr-screencopy; nil when the compositor has none.
  var copyVersion: Int? { copyManager.map { Self.version(of: $0) } }

  /// The reason why the compositor cannot be captured; nil: it can.
  var refusal: CaptureError? {
    guard copyManager != nil || imageCopyVersion != nil, memory != nil else {
      return .unavailable(
        "\(title) does not let programs capture the screen: it has neither ext-image-copy-capture nor wlr-screencopy. "
          + "Cast a window of an X program (--window with --display), log in to an X11 (“Xorg”) session, or use another program’s pictures by `rtcast pipe`."
      )
    }
    return nil
  }

  /// The picture of `target`, as the monitors stand now.
  func plan(_ target: WaylandCaptureOptions.Target) throws(CaptureError) -> ScreenPlan {
    if let refusal { throw refusal }
    let monitors = shownMonitors
    guard !monitors.isEmpty else { throw .noSuchSource("\(title) has no monitor. Connect one, or switch one on.") }
    return try ScreenPlan(target, on: monitors)
  }
}
