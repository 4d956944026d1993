import CX11
import RTCMedia

/// An event of the server that the capturer handles; all other events are `other`.
enum X11Event {
  /// A drawable changed for the first time since its damage was taken; the server's clock in milliseconds.
  case damaged(serverTime: UInt32)
  case cursorImageChanged
  case pointerMoved
  /// The layout of monitors changed.
  case monitorsChanged
  case resized(xcb_window_t)
  case mapped(xcb_window_t)
  case unmapped(xcb_window_t)
  /// The window lies in another window now.
  case reparented(xcb_window_t)
  case destroyed(xcb_window_t)
  case other

  init(_ event: UnsafeMutablePointer<xcb_generic_event_t>, _ extensions: X11Extensions) {
    let bytes = UnsafeRawPointer(event)
    let type = event.pointee.response_type & 0x7f
    switch Int32(type) {
    case XCB_CONFIGURE_NOTIFY:
      self = .resized(bytes.assumingMemoryBound(to: xcb_configure_notify_event_t.self).pointee.window)
    case XCB_MAP_NOTIFY:
      self = .mapped(bytes.assumingMemoryBound(to: xcb_map_notify_event_t.self).pointee.window)
    case XCB_UNMAP_NOTIFY:
      self = .unmapped(bytes.assumingMemoryBound(to: xcb_unmap_notify_event_t.self).pointee.window)
    case XCB_REPARENT_NOTIFY:
      self = .reparented(bytes.assumingMemoryBound(to: xcb_reparent_notify_event_t.self).pointee.window)
    case XCB_DESTROY_NOTIFY:
      self = .destroyed(bytes.assumingMemoryBound(to: xcb_destroy_notify_event_t.self).pointee.window)
    case XCB_GE_GENERIC:
      let generic = bytes.assumingMemoryBound(to: xcb_ge_generic_event_t.self).pointee
      let isMotion = generic.extension == extensions.inputOpcode && Int32(generic.event_type) == XCB_INPUT_RAW_MOTION
      self = isMotion ? .pointerMoved : .other
    default:
      self = Self.ofExtension(type, bytes, extensions)
    }
  }

  private static func ofExtension(_ type: UInt8, _ bytes: UnsafeRawPointer, _ extensions: X11Extensions) -> X11Event {
    if extensions.damage != nil, type == extensions.damageEvent {
      return .damaged(serverTime: bytes.assumingMemoryBound(to: xcb_damage_notify_event_t.self).pointee.timestamp)
    }
    if extensions.fixes != nil, type == extensions.fixesEvent + UInt8(XCB_XFIXES_CURSOR_NOTIFY) {
      return .cursorImageChanged
    }
    if extensions.randr != nil, type == extensions.randrEvent || type == extensions.randrEvent + 1 {
      return .monitorsChanged
    }
    return .other
  }
}
