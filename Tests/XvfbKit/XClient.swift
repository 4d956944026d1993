import CX11
import Glibc
package import RTCMedia

/// A program that draws on a display, for a capturer to see. Every call is done by the server when it returns.
package final class XClient {
  private let raw: OpaquePointer
  private let screen: xcb_screen_t
  private let context: UInt32

  package init(_ display: some TestDisplay) {
    raw = xcb_connect(display.name, nil)
    precondition(xcb_connection_has_error(raw) == 0, "The test's X server does not answer.")
    screen = xcb_setup_roots_iterator(xcb_get_setup(raw)).data.pointee
    context = xcb_generate_id(raw)
    xcb_create_gc(raw, context, screen.root, 0, nil)
    sync()
  }

  deinit { xcb_disconnect(raw) }

  package func window(_ rect: PixelRect, title: String? = nil, border: UInt16 = 0, color: UInt32 = 0) -> UInt32 {
    let id = xcb_generate_id(raw)
    // Values in the order of the mask's bits: background, override redirect.
    let values: [UInt32] = [color, 1]
    xcb_create_window(
      raw, UInt8(XCB_COPY_FROM_PARENT), id, screen.root, Int16(rect.x), Int16(rect.y), UInt16(rect.width),
      UInt16(rect.height), border, UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue), screen.root_visual,
      XCB_CW_BACK_PIXEL.rawValue | XCB_CW_OVERRIDE_REDIRECT.rawValue, values)
    if let title {
      xcb_change_property(
        raw, UInt8(XCB_PROP_MODE_REPLACE.rawValue), id, XCB_ATOM_WM_NAME.rawValue, XCB_ATOM_STRING.rawValue, 8,
        UInt32(title.utf8.count), Array(title.utf8))
    }
    map(id)
    return id
  }

  /// Sets a property by which windows tell their titles.
  /// - Parameters:
  ///   - property: `WM_NAME` or `_NET_WM_NAME`.
  ///   - type: `STRING`, `COMPOUND_TEXT`, `UTF8_STRING` …
  package func setTitle(_ bytes: [UInt8], property: String = "WM_NAME", type: String, of window: UInt32) {
    xcb_change_property(
      raw, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, atom(property), atom(type), 8, UInt32(bytes.count), bytes)
    sync()
  }

  package func map(_ window: UInt32) {
    xcb_map_window(raw, window)
    sync()
  }

  /// As a window manager puts a window into its frame.
  package func reparent(_ window: UInt32, into parent: UInt32, x: Int, y: Int) {
    xcb_reparent_window(raw, window, parent, Int16(x), Int16(y))
    sync()
  }

  package func unmap(_ window: UInt32) {
    xcb_unmap_window(raw, window)
    sync()
  }

  package func destroy(_ window: UInt32) {
    xcb_destroy_window(raw, window)
    sync()
  }

  package func resize(_ window: UInt32, width: Int, height: Int) {
    let values = [UInt32(width), UInt32(height)]
    xcb_configure_window(
      raw, window, UInt16(XCB_CONFIG_WINDOW_WIDTH.rawValue | XCB_CONFIG_WINDOW_HEIGHT.rawValue), values)
    sync()
  }

  package func move(_ window: UInt32, x: Int, y: Int) {
    let values = [UInt32(x), UInt32(y)]
    xcb_configure_window(raw, window, UInt16(XCB_CONFIG_WINDOW_X.rawValue | XCB_CONFIG_WINDOW_Y.rawValue), values)
    sync()
  }

  /// Fills a rectangle of `window` (nil: the root) with a pixel value of the screen's depth.
  package func fill(_ rect: PixelRect, _ color: UInt32, of window: UInt32? = nil) {
    xcb_change_gc(raw, context, XCB_GC_FOREGROUND.rawValue, [color])
    var area = xcb_rectangle_t(
      x: Int16(rect.x), y: Int16(rect.y), width: UInt16(rect.width), height: UInt16(rect.height))
    xcb_poly_fill_rectangle(raw, window ?? screen.root, context, 1, &area)
    sync()
  }

  /// The windows right on the root that are mapped, lowest first.
  package var shownWindows: [UInt32] {
    guard let tree = xcb_query_tree_reply(raw, xcb_query_tree(raw, screen.root), nil) else { return [] }
    defer { free(tree) }
    let children = UnsafeBufferPointer(
      start: xcb_query_tree_children(tree), count: Int(xcb_query_tree_children_length(tree)))
    return children.filter { child in
      guard let reply = xcb_get_window_attributes_reply(raw, xcb_get_window_attributes(raw, child), nil) else {
        return false
      }
      defer { free(reply) }
      return UInt32(reply.pointee.map_state) == XCB_MAP_STATE_VIEWABLE.rawValue
    }
  }

  /// Where a window's inside begins on the screen.
  package func corner(of window: UInt32) -> (x: Int, y: Int)? {
    let cookie = xcb_translate_coordinates(raw, window, screen.root, 0, 0)
    guard let reply = xcb_translate_coordinates_reply(raw, cookie, nil) else { return nil }
    defer { free(reply) }
    return (Int(reply.pointee.dst_x), Int(reply.pointee.dst_y))
  }

  /// Asks the window to close, as the close button of a window manager does.
  package func askToClose(_ window: UInt32) {
    var event = xcb_client_message_event_t()
    event.response_type = UInt8(XCB_CLIENT_MESSAGE)
    event.format = 32
    event.window = window
    event.type = atom("WM_PROTOCOLS")
    event.data.data32.0 = atom("WM_DELETE_WINDOW")
    withUnsafeBytes(of: &event) { bytes in
      _ = xcb_send_event(raw, 0, window, 0, bytes.baseAddress!.assumingMemoryBound(to: CChar.self))
    }
    sync()
  }

  /// Gives a window the keyboard.
  package func focus(_ window: UInt32) {
    xcb_set_input_focus(raw, UInt8(XCB_INPUT_FOCUS_POINTER_ROOT.rawValue), window, 0)
    sync()
  }

  /// The window's title as its program set it, in UTF-8.
  package func title(_ window: UInt32) -> String {
    let cookie = xcb_get_property(raw, 0, window, atom("_NET_WM_NAME"), XCB_ATOM_ANY.rawValue, 0, 1024)
    guard let reply = xcb_get_property_reply(raw, cookie, nil) else { return "" }
    defer { free(reply) }
    let bytes = UnsafeRawBufferPointer(
      start: xcb_get_property_value(reply), count: Int(xcb_get_property_value_length(reply)))
    return String(decoding: bytes, as: UTF8.self)
  }

  private func atom(_ name: String) -> UInt32 {
    guard let reply = xcb_intern_atom_reply(raw, xcb_intern_atom(raw, 0, UInt16(name.utf8.count), name), nil) else {
      return 0
    }
    defer { free(reply) }
    return reply.pointee.atom
  }

  package func warpPointer(x: Int, y: Int) {
    xcb_warp_pointer(raw, 0, screen.root, 0, 0, 0, 0, Int16(x), Int16(y))
    sync()
  }

  /// The pointer looks like a glyph of the font that every server has, as long as this program runs: nobody can read the image of one
  /// whose program is gone.
  /// - Returns: what the server calls it.
  @discardableResult
  package func setPointer(glyph: UInt16) -> UInt32 {
    let (font, cursor) = (xcb_generate_id(raw), xcb_generate_id(raw))
    xcb_open_font(raw, font, 6, "cursor")
    xcb_create_glyph_cursor(raw, cursor, font, font, glyph, glyph + 1, 0, 0, 0, .max, .max, .max)
    var value = cursor
    xcb_change_window_attributes(raw, screen.root, XCB_CW_CURSOR.rawValue, &value)
    sync()
    return cursor
  }

  /// Ends the connection of the program to which something belongs; its pointer stays.
  package func kill(ownerOf resource: UInt32) {
    xcb_kill_client(raw, resource)
    sync()
  }

  /// A round trip: all requests before are done.
  private func sync() { free(xcb_get_input_focus_reply(raw, xcb_get_input_focus(raw), nil)) }
}

extension VideoFrame {
  /// The colour of one pixel of a picture that lies in BGRA: 0xRRGGBB.
  package func pixel(_ x: Int, _ y: Int) -> UInt32 {
    let bytes = buffer.bytes(ofPlane: 0)
    let at = y * buffer.stride(ofPlane: 0) + x * 4
    return UInt32(bytes[at + 2]) << 16 | UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at])
  }

  /// Every damaged rectangle in one.
  package var damageBounds: PixelRect? {
    damage.map { $0.reduce(PixelRect(x: 0, y: 0, width: 0, height: 0)) { $0.union($1) } }
  }
}
