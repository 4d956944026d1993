import CX11
import RTCMedia

/// The resolved target: the drawable with the picture's pixels, and their place in the window whose changes count.
struct X11Source: Equatable {
  /// The drawable that is read: the root window or the pixmap behind a window.
  var drawable: xcb_drawable_t
  /// The picture's top left corner in `drawable`.
  var origin: Point
  var size: PixelSize
  var layout: PixelLayout
  /// The window whose damage and pointer coordinates count.
  var window: xcb_window_t
  /// The picture's top left corner in `window`.
  var windowOrigin: Point

  struct Point: Hashable {
    var x: Int
    var y: Int
  }
}

extension X11Source {
  /// Finds `target`; refuses a display that has no picture of its screen. A window has its own way, see `WindowPixmap`.
  static func onScreen(_ target: X11CaptureOptions.Target, _ connection: X11Connection) throws(CaptureError)
    -> X11Source
  {
    guard let geometry = connection.geometry(of: connection.root),
      let attributes = connection.attributes(of: connection.root)
    else { throw .unavailable("The X display \(connection.displayName) went away.") }
    if let refusal = connection.hiddenRoot() { throw refusal }
    let layout = try PixelLayout(visual: attributes.visual, depth: geometry.depth, on: connection)
    let rect = try place(of: target, on: geometry.size, connection)
    let origin = Point(x: rect.x, y: rect.y)
    return X11Source(
      drawable: connection.root, origin: origin, size: PixelSize(width: rect.width, height: rect.height),
      layout: layout, window: connection.root, windowOrigin: origin)
  }

  private static func place(
    of target: X11CaptureOptions.Target, on screen: PixelSize, _ connection: X11Connection
  ) throws(CaptureError) -> PixelRect {
    switch target {
    case .screen, .window: return PixelRect(screen)
    case .monitor(let wanted):
      let monitor = try connection.monitor(wanted)
      let rect = monitor.rect.intersection(PixelRect(screen))
      guard !rect.isEmpty else { throw .noSuchSource("The monitor \(monitor.name) shows no part of the screen.") }
      return rect
    case .region(let rect):
      guard !rect.isEmpty, rect.intersection(PixelRect(screen)) == rect else {
        throw .unsupportedFormat(
          "The region \(rect.width)x\(rect.height)+\(rect.x)+\(rect.y) is not inside the screen, which is \(screen).")
      }
      return rect
    }
  }
}

extension X11Connection {
  /// The monitors in the server's order; the whole screen as the only one when the server does not know.
  func monitors() -> [X11Monitor] {
    let whole = X11Monitor(
      index: 0, name: "screen", rect: PixelRect(rootSize() ?? PixelSize(width: 0, height: 0)), isPrimary: true)
    guard extensions.hasMonitors,
      let reply = reply(xcb_randr_get_monitors_reply(raw, xcb_randr_get_monitors(raw, root, 1), nil))
    else { return [whole] }
    var found: [X11Monitor] = []
    var iterator = xcb_randr_get_monitors_monitors_iterator(reply.pointer)
    while iterator.rem > 0 {
      let info = iterator.data.pointee
      found.append(
        X11Monitor(
          index: found.count, name: atomName(info.name),
          rect: PixelRect(x: Int(info.x), y: Int(info.y), width: Int(info.width), height: Int(info.height)),
          isPrimary: info.primary != 0))
      xcb_randr_monitor_info_next(&iterator)
    }
    return found.isEmpty ? [whole] : found
  }

  /// The monitor with this index or name (case does not matter).
  func monitor(_ wanted: String) throws(CaptureError) -> X11Monitor {
    let all = monitors()
    let lowered = wanted.lowercased()
    if let monitor = all.first(where: { $0.name == wanted }) ?? all.first(where: { $0.name.lowercased() == lowered }) {
      return monitor
    }
    if let index = Int(wanted), all.indices.contains(index) { return all[index] }
    let names = all.map { "\($0.index) (\($0.name))" }.joined(separator: ", ")
    throw .noSuchSource("There is no monitor \(wanted) on \(displayName); there are: \(names).")
  }
}
