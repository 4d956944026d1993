import CX11
import Glibc
import RTCMedia

/// A program that draws on a display, for a capturer to see. Every call is done by the server when it returns.
final class XClient {
  private let raw: OpaquePointer
  private let screen: xcb_screen_t
  private let context: UInt32

  init(_ display: XvfbDisplay) {
    raw = xcb_connect(display.name, nil)
    precondition(xcb_connection_has_error(raw) == 0, "The test's X server does not answer.")
    screen = xcb_setup_roots_iterator(xcb_get_setup(raw)).data.pointee
    context = xcb_generate_id(raw)
    xcb_create_gc(raw, context, screen.root, 0, nil)
    sync()
  }

  deinit { xcb_disconnect(raw) }

  func window(_ rect: PixelRect, title: String? = nil, border: UInt16 = 0, color: UInt32 = 0) -> UInt32 {
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

  func map(_ window: UInt32) {
    xcb_map_window(raw, window)
    sync()
  }

  func unmap(_ window: UInt32) {
    xcb_unmap_window(raw, window)
    sync()
  }

  func destroy(_ window: UInt32) {
    xcb_destroy_window(raw, window)
    sync()
  }

  func resize(_ window: UInt32, width: Int, height: Int) {
    let values = [UInt32(width), UInt32(height)]
    xcb_configure_window(
      raw, window, UInt16(XCB_CONFIG_WINDOW_WIDTH.rawValue | XCB_CONFIG_WINDOW_HEIGHT.rawValue), values)
    sync()
  }

  func move(_ window: UInt32, x: Int, y: Int) {
    let values = [UInt32(x), UInt32(y)]
    xcb_configure_window(raw, window, UInt16(XCB_CONFIG_WINDOW_X.rawValue | XCB_CONFIG_WINDOW_Y.rawValue), values)
    sync()
  }

  /// Fills a rectangle of `window` (nil: the root) with a pixel value of the screen's depth.
  func fill(_ rect: PixelRect, _ color: UInt32, of window: UInt32? = nil) {
    xcb_change_gc(raw, context, XCB_GC_FOREGROUND.rawValue, [color])
    var area = xcb_rectangle_t(
      x: Int16(rect.x), y: Int16(rect.y), width: UInt16(rect.width), height: UInt16(rect.height))
    xcb_poly_fill_rectangle(raw, window ?? screen.root, context, 1, &area)
    sync()
  }

  func warpPointer(x: Int, y: Int) {
    xcb_warp_pointer(raw, 0, screen.root, 0, 0, 0, 0, Int16(x), Int16(y))
    sync()
  }

  /// A round trip: all requests before are done.
  private func sync() { free(xcb_get_input_focus_reply(raw, xcb_get_input_focus(raw), nil)) }
}

extension VideoFrame {
  /// 0xRRGGBB.
  func pixel(_ x: Int, _ y: Int) -> UInt32 {
    let bytes = buffer.bytes(ofPlane: 0)
    let at = y * buffer.stride(ofPlane: 0) + x * 4
    return UInt32(bytes[at + 2]) << 16 | UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at])
  }

  /// Every damaged rectangle in one.
  var damageBounds: PixelRect? {
    damage.map { $0.reduce(PixelRect(x: 0, y: 0, width: 0, height: 0)) { $0.union($1) } }
  }
}
