import CSystemdBus
import Glibc
import RTCMedia

/// The session's D-Bus, used by one thread, and the screen cast that is started over it.
final class DesktopBus {
  /// An event of the session on the bus.
  enum Event {
    /// The stream of pictures is there, as a node of PipeWire.
    case node(UInt32)
    /// The desktop ended the session.
    case closed
    case answer(PortalAnswer)
  }

  /// The portal's answer to a request.
  struct PortalAnswer {
    /// 0: done; 1: the user refused; others: ended otherwise.
    var code: UInt32
    var session: String?
    var node: UInt32
    /// The token that restores the choice of the user, the next time.
    var token: String?
  }

  /// A monitor, as Mutter describes it.
  struct Monitor {
    var name: String
    /// In the desktop's units.
    var place: PixelRect
    /// In pixels, upright.
    var size: PixelSize
    var isPrimary: Bool
  }

  private static let mostMonitors = 32
  private static let largestSide: Int32 = 32_768

  private let raw: OpaquePointer
  private typealias Listener = CListener<DesktopBus, csystemdbus_listener>
  private let listener: Listener
  private var events: [Event] = []

  init() throws(CaptureError) {
    if let reason = csystemdbus_missing() {
      throw .unavailable(
        "The desktop cannot be asked for its screen, because libsystemd cannot be loaded: \(String(cString: reason)). "
          + "Install the package libsystemd0.")
    }
    listener = Listener(
      csystemdbus_listener(
        owner: nil, node: { owner, node in Listener.owner(owner).events.append(.node(node)) },
        closed: { owner in Listener.owner(owner).events.append(.closed) },
        answered: { owner, code, session, node, token in
          let answer = PortalAnswer(
            code: code, session: session.map { String(cString: $0) }, node: node,
            token: token.map { String(cString: $0) })
          Listener.owner(owner).events.append(.answer(answer))
        }))
    guard let raw = csystemdbus_open(listener.callbacks) else {
      let reason = String(cString: strerror(errno))
      throw .unavailable(
        "The D-Bus of the desktop session cannot be reached (\(reason)). Start rtcast inside the session, or set "
          + "DBUS_SESSION_BUS_ADDRESS as it is there.")
    }
    self.raw = raw
    listener.setOwner(self, at: \.owner)
  }

  deinit {
    csystemdbus_close(raw)
  }

  var descriptor: Int32 { csystemdbus_descriptor(raw) }

  /// The events that have come, read without waiting; nil when the bus went away.
  func process() -> [Event]? {
    let isThere = csystemdbus_process(raw)
    defer { events.removeAll() }
    return isThere ? events : nil
  }

  /// Whether a program has this name, or can be started by it.
  func has(_ name: String) -> Bool { csystemdbus_has(raw, name) }

  private var failure: String { csystemdbus_failure(raw).map { String(cString: $0) } ?? "" }

  // MARK: Mutter

  func monitors() throws(CaptureError) -> [Monitor] {
    var found = [csystemdbus_monitor](repeating: csystemdbus_monitor(), count: Self.mostMonitors)
    let count = csystemdbus_monitors(raw, &found, Int32(Self.mostMonitors))
    guard count >= 0 else { throw .unavailable("GNOME’s Mutter does not name its monitors: \(failure)") }
    return found.prefix(Int(count)).compactMap(Self.monitor)
  }

  /// Nil for a monitor that is off.
  private static func monitor(_ raw: csystemdbus_monitor) -> Monitor? {
    let sides = 1...largestSide
    guard sides.contains(raw.width), sides.contains(raw.height), raw.scale >= 0.1, raw.scale <= 64,
      abs(Int(raw.x)) <= 1 << 20, abs(Int(raw.y)) <= 1 << 20
    else { return nil }
    let (width, height) = (Int(raw.width), Int(raw.height))
    let isTurned = raw.transform % 2 == 1
    let size = PixelSize(width: isTurned ? height : width, height: isTurned ? width : height)
    func units(_ pixels: Int) -> Int { max(1, Int((Double(pixels) / raw.scale).rounded())) }
    let name = withUnsafeBytes(of: raw.connector) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    return Monitor(
      name: name,
      place: PixelRect(x: Int(raw.x), y: Int(raw.y), width: units(size.width), height: units(size.height)), size: size,
      isPrimary: raw.is_primary)
  }

  /// Starts a recording of a monitor, or of an area in the desktop's units.
  func record(monitor: String?, area: PixelRect, cursor: csystemdbus_cursor) throws(CaptureError) {
    let numbers = [
      Int32(clamping: area.x), Int32(clamping: area.y), Int32(clamping: area.width), Int32(clamping: area.height),
    ]
    guard csystemdbus_record(raw, monitor, numbers, cursor) == 0 else {
      throw .unavailable("GNOME’s Mutter does not record the screen: \(failure)")
    }
  }

  /// Starts a recording of a monitor that Mutter makes for it. The format of the stream decides its size.
  func recordVirtual(cursor: csystemdbus_cursor) throws(CaptureError) {
    guard csystemdbus_record(raw, nil, nil, cursor) == 0 else {
      throw .unavailable("GNOME’s Mutter makes no virtual monitor: \(failure)")
    }
  }

  // MARK: The portal

  /// The version of the portal's ScreenCast; nil if there is none.
  var portalVersion: Int? {
    let version = csystemdbus_portal_number(raw, "version")
    return version > 0 ? Int(version) : nil
  }

  /// The sources of the portal: bits 1 for monitors, 2 for windows, 4 for virtual monitors.
  var portalSources: UInt32 { csystemdbus_portal_number(raw, "AvailableSourceTypes") }

  func createPortalSession() throws(CaptureError) { try check(csystemdbus_portal_create(raw)) }

  /// - Parameters:
  ///   - isKept: whether a token is wanted that restores the choice.
  ///   - token: restores an earlier choice; nil: none.
  func selectSources(
    _ session: String, types: UInt32, cursor: csystemdbus_cursor, isKept: Bool, token: String?
  ) throws(CaptureError) {
    // A backend may have fewer modes and kinds.
    let modes = csystemdbus_portal_number(raw, "AvailableCursorModes")
    let kinds = portalSources
    var mode = cursor
    if modes != 0, modes & (1 << cursor.rawValue) == 0 {
      mode =
        modes & (1 << csystemdbus_cursor_drawn.rawValue) != 0 ? csystemdbus_cursor_drawn : csystemdbus_cursor_hidden
    }
    try check(csystemdbus_portal_select(raw, session, kinds == 0 ? types : types & kinds, mode, isKept, token))
  }

  func startPortalSession(_ session: String) throws(CaptureError) { try check(csystemdbus_portal_start(raw, session)) }

  /// The connection to PipeWire that the portal opens, to be closed by the caller.
  func portalRemote(_ session: String) throws(CaptureError) -> Int32 {
    let descriptor = csystemdbus_portal_remote(raw, session)
    try check(min(0, descriptor))
    return descriptor
  }

  private func check(_ result: Int32) throws(CaptureError) {
    guard result < 0 else { return }
    throw .unavailable(
      "The desktop portal does not cast the screen: \(failure.isEmpty ? String(cString: strerror(-result)) : failure)")
  }
}
