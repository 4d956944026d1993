import CX11
import Glibc
import RTCMedia

/// A window drawn off-screen by the server (XComposite), so that it is whole while covered, and the pixmap behind it.
struct WindowPixmap {
  /// No window lies deeper; a bound against a tree that changes while it is read.
  private static let depthLimit = 64

  let window: xcb_window_t
  let title: String
  /// The windows in which the window lies, from its frame to the one on the root. Window managers hide a window by
  /// unmapping it, its frame (i3), or both.
  private(set) var ancestors: [xcb_window_t] = []
  private let connection: X11Connection
  private var pixmap: UInt32?
  /// When the pixmap was named.
  private var geometry: X11Geometry?

  init(_ wanted: String, _ connection: X11Connection) throws(CaptureError) {
    guard connection.extensions.hasWindowPixmaps else {
      throw .unavailable(
        "The X display \(connection.displayName) has no Composite extension, so single windows cannot be captured; "
          + "capture the screen or a region.")
    }
    let found = try connection.window(wanted)
    guard found.isMapped else {
      throw .unavailable("The window \(found.idText) “\(found.title)” is not shown now; bring it up first.")
    }
    self.connection = connection
    window = found.id
    title = found.title
    connection.listen(to: window)
    xcb_composite_redirect_window(connection.raw, window, UInt8(XCB_COMPOSITE_REDIRECT_AUTOMATIC.rawValue))
  }

  /// The window was hidden: its pixmap is not the window's any more.
  func forgotten() -> WindowPixmap {
    var copy = self
    copy.geometry = nil
    return copy
  }

  /// Names the pixmap anew when the window has another size or was shown again; nil while it is not shown.
  mutating func source() throws(CaptureError) -> X11Source? {
    findAncestors()
    guard let now = connection.geometry(of: window), let attributes = connection.attributes(of: window),
      Int32(attributes.map_state) == Int32(XCB_MAP_STATE_VIEWABLE.rawValue)
    else { return nil }
    let isSame = geometry.map { $0.size == now.size && $0.border == now.border } ?? false
    if !isSame || pixmap == nil {
      guard renamePixmap() else { return nil }
      geometry = now
    }
    let layout = try PixelLayout(visual: attributes.visual, depth: now.depth, on: connection)
    return X11Source(
      drawable: pixmap ?? 0, origin: .init(x: now.border, y: now.border), size: now.size, layout: layout,
      window: window, windowOrigin: .init(x: 0, y: 0))
  }

  /// Listens to each ancestor before it is asked whether the window is shown: no change falls between.
  private mutating func findAncestors() {
    var found: [xcb_window_t] = []
    var next = connection.parent(of: window)
    while let ancestor = next, ancestor != connection.root, found.count < Self.depthLimit {
      if !ancestors.contains(ancestor) { connection.listen(to: ancestor) }
      found.append(ancestor)
      next = connection.parent(of: ancestor)
    }
    ancestors = found
  }

  private mutating func renamePixmap() -> Bool {
    if let pixmap { xcb_free_pixmap(connection.raw, pixmap) }
    pixmap = nil
    let name = connection.newID()
    guard connection.isDone(xcb_composite_name_window_pixmap_checked(connection.raw, window, name)) else {
      return false
    }
    pixmap = name
    return true
  }
}

extension X11Connection {
  /// Has the server report when `window` is mapped, unmapped, resized, reparented or destroyed.
  fileprivate func listen(to window: xcb_window_t) {
    var mask = XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue
    xcb_change_window_attributes(raw, window, XCB_CW_EVENT_MASK.rawValue, &mask)
  }

  /// Nil for the root, and for a window that does not exist.
  fileprivate func parent(of window: xcb_window_t) -> xcb_window_t? {
    guard let reply = reply(xcb_query_tree_reply(raw, xcb_query_tree(raw, window), nil)) else { return nil }
    let parent = reply.pointer.pointee.parent
    return parent == 0 ? nil : parent
  }
}
