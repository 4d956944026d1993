import CLinux
import CX11
import Glibc
import RTCMedia
import RTCPrimitives

/// A connection to an X server, used by one thread at a time. A broken connection never ends the process: requests
/// answer nil from then on and `isBroken` says so.
final class X11Connection {
  let raw: OpaquePointer
  /// Every wait for the server is announced to it.
  let watch: AnswerWatch
  let displayName: String
  let root: xcb_window_t
  /// Bits of a pixel of the root window.
  let rootDepth: UInt8
  let extensions: X11Extensions

  /// Connects to the display with this name.
  init(_ name: String, _ watch: AnswerWatch) throws(CaptureError) {
    guard let (raw, preferred) = try watch.connect(to: name) else { throw Self.silence(of: name) }
    (displayName, self.raw, self.watch) = (name, raw, watch)
    let failure = xcb_connection_has_error(raw)
    guard failure == 0, let screen = Self.screen(preferred, of: raw) else {
      xcb_disconnect(raw)
      if failure == XCB_CONN_CLOSED_PARSE_ERR { throw Self.noName(name) }
      throw .unavailable(
        "The X display \(name) cannot be reached. Check that it runs and that you may use it (XAUTHORITY).")
    }
    (root, rootDepth) = (screen.root, screen.root_depth)
    extensions = X11Extensions(raw, watch)
  }

  deinit { xcb_disconnect(raw) }

  /// Connects for `body` alone, on a thread that is not ours: a server that goes meanwhile must not end the process by
  /// SIGPIPE. A server that hangs is given up.
  static func visit<Result>(
    display: String?, greetingLimit: TimeDelta = AnswerWatch.answerLimit,
    _ body: (X11Connection) throws(CaptureError) -> Result
  ) throws(CaptureError) -> Result {
    let wasBlocked = clinux_sigpipe_block()
    defer { clinux_sigpipe_restore(wasBlocked) }
    let name = try displayName(display)
    let watch = try AnswerWatch(.giveUp, greetingLimit: greetingLimit)
    do throws(CaptureError) {
      let result = try body(X11Connection(name, watch))
      guard watch.hasGivenUp else { return result }
    } catch {
      guard watch.hasGivenUp else { throw error }
    }
    throw silence(of: name)
  }

  /// The text is not the name of a display.
  static func noName(_ text: String) -> CaptureError {
    .unavailable("“\(text)” is not the name of an X display; they look like :0 or host:0.")
  }

  /// The server hangs.
  static func silence(of display: String) -> CaptureError { .unavailable(silenceSentence(of: display)) }

  static func silenceSentence(of display: String) -> String {
    "The X server \(display) does not answer; it accepts connections and does no more."
  }

  /// Waits for a reply; nil when the server refuses the request or the connection is broken.
  func reply<Value>(_ read: @autoclosure () -> UnsafeMutablePointer<Value>?) -> X11Reply<Value>? {
    watch.reply(read())
  }

  /// Waits until the server has done a request; false when it refuses, or the connection is broken.
  func isDone(_ cookie: xcb_void_cookie_t) -> Bool {
    let failure = watch.awaiting { xcb_request_check(raw, cookie) }
    defer { free(failure) }
    return failure == nil && !isBroken
  }

  var descriptor: Int32 { xcb_get_file_descriptor(raw) }
  var isBroken: Bool { xcb_connection_has_error(raw) != 0 || watch.isInterrupted }
  /// Memory can be passed to the server as a descriptor. XCB breaks a connection by TCP that is asked to.
  var passesDescriptors: Bool {
    guard let version = extensions.shm, (version.major, version.minor) >= (1, 2) else { return false }
    var address = sockaddr()
    var length = socklen_t(MemoryLayout<sockaddr>.size)
    return getsockname(descriptor, &address, &length) == 0 && Int32(address.sa_family) == AF_UNIX
  }

  func flush() { _ = watch.awaiting { xcb_flush(raw) } }
  func newID() -> UInt32 { watch.awaiting { xcb_generate_id(raw) } }

  /// The next event, read without waiting; nil when there is none.
  func nextEvent() -> X11Event? {
    guard let event = watch.awaiting({ xcb_poll_for_event(raw) }) else { return nil }
    defer { free(event) }
    return X11Event(event, extensions)
  }

  /// Waits until the server has done everything that it was asked for.
  func ask() { _ = reply(xcb_get_input_focus_reply(raw, xcb_get_input_focus(raw), nil)) }

  /// The extent of a window or pixmap and its place in its parent; nil when it does not exist.
  func geometry(of drawable: xcb_drawable_t) -> X11Geometry? {
    guard let reply = reply(xcb_get_geometry_reply(raw, xcb_get_geometry(raw, drawable), nil)) else { return nil }
    return X11Geometry(reply.pointer.pointee)
  }

  func rootSize() -> PixelSize? { geometry(of: root)?.size }

  func attributes(of window: xcb_window_t) -> xcb_get_window_attributes_reply_t? {
    reply(xcb_get_window_attributes_reply(raw, xcb_get_window_attributes(raw, window), nil))?.pointer.pointee
  }

  func atomName(_ atom: xcb_atom_t) -> String {
    guard let reply = reply(xcb_get_atom_name_reply(raw, xcb_get_atom_name(raw, atom), nil)) else { return "" }
    let bytes = UnsafeRawBufferPointer(
      start: xcb_get_atom_name_name(reply.pointer), count: Int(xcb_get_atom_name_name_length(reply.pointer)))
    return String(decoding: bytes, as: UTF8.self)
  }

  func atom(_ name: String) -> xcb_atom_t {
    let cookie = xcb_intern_atom(raw, 1, UInt16(name.utf8.count), name)
    return reply(xcb_intern_atom_reply(raw, cookie, nil))?.pointer.pointee.atom ?? 0
  }

  /// The name of `given`, or of what DISPLAY names.
  static func displayName(_ given: String?) throws(CaptureError) -> String {
    if let given, !given.isEmpty { return given }
    let name = getenv("DISPLAY").map { String(cString: $0) } ?? ""
    guard !name.isEmpty else {
      throw .unavailable(
        "No X display: DISPLAY is not set. Start rtcast inside the desktop session, or pass --display :0.")
    }
    return name
  }

  private static func screen(_ number: Int, of raw: OpaquePointer) -> xcb_screen_t? {
    var roots = xcb_setup_roots_iterator(xcb_get_setup(raw))
    for _ in 0..<number where roots.rem > 0 { xcb_screen_next(&roots) }
    return roots.rem > 0 ? roots.data.pointee : nil
  }
}

/// A reply of the server, freed with its owner.
struct X11Reply<Value>: ~Copyable {
  let pointer: UnsafeMutablePointer<Value>

  init?(_ pointer: UnsafeMutablePointer<Value>?) {
    guard let pointer else { return nil }
    self.pointer = pointer
  }

  deinit { free(pointer) }
}

/// Where a drawable lies in its parent, and how large it is without its border.
struct X11Geometry: Hashable {
  var x: Int
  var y: Int
  var size: PixelSize
  var border: Int
  var depth: UInt8

  init(_ reply: xcb_get_geometry_reply_t) {
    x = Int(reply.x)
    y = Int(reply.y)
    size = PixelSize(width: Int(reply.width), height: Int(reply.height))
    border = Int(reply.border_width)
    depth = reply.depth
  }
}
