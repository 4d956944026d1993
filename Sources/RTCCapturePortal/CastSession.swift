import CSystemdBus
import RTCMedia

/// The conversation with the desktop that leads to a stream. A machine; its owner passes the events of the bus on.
struct CastSession {
  /// The next task of the owner.
  enum Step {
    case wait
    /// Waits too, for the user.
    case waitForUser
    /// The stream is this node of PipeWire, over this connection (nil: the session's).
    case open(node: UInt32, descriptor: Int32?)
    /// The desktop ended the session.
    case closed
  }

  private enum State {
    case recording
    case creating
    case selecting(session: String)
    case starting(session: String)
    case open
  }

  /// Sources as the portal counts them: monitors and windows; monitors that are made for the cast.
  private static let allSources: UInt32 = 1 | 2
  private static let virtualSource: UInt32 = 4

  private let bus: DesktopBus
  private let options: PortalCaptureOptions
  private var state: State

  /// Begins the conversation.
  init(_ bus: DesktopBus, _ options: PortalCaptureOptions) throws(CaptureError) {
    (self.bus, self.options) = (bus, options)
    switch options.backend {
    case .mutter:
      state = .recording
      try record()
    case .portal:
      state = .creating
      if case .monitor(let name) = options.target {
        throw .unsupportedFormat(
          "The monitor \(name) cannot be chosen on the command line here: the desktop asks in a dialog what to share. "
            + "Leave --monitor out.")
      }
      guard let version = bus.portalVersion, version > 0 else { throw .unavailable(Self.noPortal) }
      if options.target.virtualSize != nil, bus.portalSources & Self.virtualSource == 0 {
        throw .unavailable(
          "The portal of this desktop makes no virtual monitors. The portals of GNOME and KDE Plasma do. Leave --virtual out, "
            + "or use --wayland-backend mutter in a GNOME session.")
      }
      try bus.createPortalSession()
    }
  }

  static let noPortal =
    "No desktop portal offers this screen for sharing (org.freedesktop.portal.ScreenCast). Install xdg-desktop-portal and "
    + "the backend of this desktop, such as xdg-desktop-portal-gnome, -kde or -wlr, and log in again."

  private var cursor: csystemdbus_cursor { options.cursor ? csystemdbus_cursor_told : csystemdbus_cursor_hidden }

  private func record() throws(CaptureError) {
    guard bus.has("org.gnome.Mutter.ScreenCast") else {
      throw .unavailable("There is no GNOME session on this D-Bus whose screen Mutter could record.")
    }
    if options.target.virtualSize != nil { return try bus.recordVirtual(cursor: cursor) }
    let monitors = try bus.monitors()
    guard !monitors.isEmpty else {
      throw .noSuchSource("GNOME has no monitor that is on. Connect one, or switch one on.")
    }
    let whole = monitors.reduce(PixelRect(x: 0, y: 0, width: 0, height: 0)) { $0.union($1.place) }
    switch options.target {
    case .screen:
      try bus.record(monitor: monitors.count == 1 ? monitors[0].name : nil, area: whole, cursor: cursor)
    case .monitor(let wanted):
      let found =
        monitors.first { $0.name == wanted } ?? monitors.first { $0.name.lowercased() == wanted.lowercased() }
        ?? Int(wanted).flatMap { monitors.indices.contains($0) ? monitors[$0] : nil }
      guard let found else {
        let names = monitors.enumerated().map { "\($0) (\($1.name))" }.joined(separator: ", ")
        throw .noSuchSource("There is no monitor \(wanted); there are: \(names).")
      }
      try bus.record(monitor: found.name, area: found.place, cursor: cursor)
    case .region(let rect):
      guard !rect.isEmpty, rect.intersection(whole) == rect else {
        throw .unsupportedFormat(
          "The region \(rect.width)x\(rect.height)+\(rect.x)+\(rect.y) is not inside the screen, which is "
            + "\(whole.width)x\(whole.height)+\(whole.x)+\(whole.y).")
      }
      try bus.record(monitor: nil, area: rect, cursor: cursor)
    case .virtual: break
    }
  }

  /// The next step after an event.
  mutating func take(_ event: DesktopBus.Event) throws(CaptureError) -> Step {
    switch (event, state) {
    case (.closed, _): return .closed
    case (.node(let node), .recording):
      state = .open
      return .open(node: node, descriptor: nil)
    case (.node, _): return .wait
    case (.answer(let answer), _): return try take(answer)
    }
  }

  private mutating func take(_ answer: DesktopBus.PortalAnswer) throws(CaptureError) -> Step {
    switch answer.code {
    case 0: break
    case 1:
      throw .notPermitted("Sharing of the screen was refused in the desktop’s dialog. Start again, and allow it there.")
    default: throw .unavailable("The desktop portal ended the request for the screen, without a reason.")
    }
    switch state {
    case .creating:
      guard let session = answer.session else { throw .unavailable("The desktop portal named no session.") }
      state = .selecting(session: session)
      let isVirtual = options.target.virtualSize != nil
      try bus.selectSources(
        session, types: isVirtual ? Self.virtualSource : Self.allSources, cursor: cursor, isKept: !isVirtual,
        token: isVirtual ? nil : options.tokens?.load())
      // Some backends ask now, others when the session starts.
      return .waitForUser
    case .selecting(let session):
      state = .starting(session: session)
      try bus.startPortalSession(session)
      return .waitForUser
    case .starting(let session):
      guard answer.node != 0 else { throw .unavailable("The desktop portal shares nothing: it named no stream.") }
      // The stored token restores the choice of a monitor.
      if let token = answer.token, options.target.virtualSize == nil { options.tokens?.store(token) }
      state = .open
      return .open(node: answer.node, descriptor: try bus.portalRemote(session))
    case .recording, .open: return .wait
    }
  }
}
