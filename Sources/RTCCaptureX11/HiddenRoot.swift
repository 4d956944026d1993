import CX11
import Glibc
import RTCMedia

/// Servers that show each window on a desktop of its own kind, and have no picture of the whole: XWayland under a Wayland
/// compositor above all. Their root window is black to MIT-SHM and never damaged.
extension X11Connection {
  /// Why the root window cannot be captured, with what works instead; nil when it can be.
  ///
  /// The sign is core GetImage, which such a server refuses with BadMatch even for one pixel, because its root window is
  /// not viewable. XWayland in a window of its own ("rootful") has a picture of its root and answers.
  func hiddenRoot() -> CaptureError? {
    guard isRootUnreadable else { return nil }
    return .unavailable(
      isXWayland
        ? "The X display \(displayName) is XWayland, which has no picture of the whole screen: log in to an X11 (“Xorg”) "
          + "session, cast the window of an X program with --window, or pipe another recorder's output into `rtcast pipe`."
        : "The X display \(displayName) has no picture of the whole screen: cast a window with --window, or pipe another "
          + "recorder's output into `rtcast pipe`.")
  }

  private var isRootUnreadable: Bool {
    var error: UnsafeMutablePointer<xcb_generic_error_t>?
    let cookie = xcb_get_image(raw, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), root, 0, 0, 1, 1, ~0)
    free(watch.awaiting { xcb_get_image_reply(raw, cookie, &error) })
    defer { free(error) }
    return error.map { Int32($0.pointee.error_code) == XCB_MATCH } ?? false
  }

  /// Whether the server is XWayland: it says so by an extension (from version 23.1 on) or by a property of its outputs.
  private var isXWayland: Bool {
    let name = "XWAYLAND"
    let cookie = xcb_query_extension(raw, UInt16(name.utf8.count), name)
    if let reply = reply(xcb_query_extension_reply(raw, cookie, nil)), reply.pointer.pointee.present != 0 {
      return true
    }
    return emulatesMonitors
  }

  /// XWayland changes no real monitor's mode, and marks its outputs for it.
  private var emulatesMonitors: Bool {
    let mark = atom("RANDR Emulation")
    guard mark != 0, extensions.randr.map({ ($0.major, $0.minor) >= (1, 3) }) == true,
      let resources = reply(
        xcb_randr_get_screen_resources_current_reply(raw, xcb_randr_get_screen_resources_current(raw, root), nil))
    else { return false }
    let outputs = UnsafeBufferPointer(
      start: xcb_randr_get_screen_resources_current_outputs(resources.pointer),
      count: Int(xcb_randr_get_screen_resources_current_outputs_length(resources.pointer)))
    return outputs.contains { output in
      let cookie = xcb_randr_list_output_properties(raw, output)
      guard let reply = reply(xcb_randr_list_output_properties_reply(raw, cookie, nil)) else { return false }
      return UnsafeBufferPointer(
        start: xcb_randr_list_output_properties_atoms(reply.pointer),
        count: Int(xcb_randr_list_output_properties_atoms_length(reply.pointer))
      ).contains(mark)
    }
  }
}
