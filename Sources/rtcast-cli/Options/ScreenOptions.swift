import ArgumentParser
import Glibc
import Logging
import RTCCapture
import RTCCapturePortal
import RTCCaptureWayland
import RTCCaptureX11
import RTCMedia
import Synchronization

/// The screen, or the part of it, for `rtcast screen` and `rtcast call`.
struct ScreenOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "X display. (default: the Wayland desktop of $WAYLAND_DISPLAY if it can be captured, else $DISPLAY)",
      valueName: "name"))
  var display: String?

  @Option(
    help: ArgumentHelp(
      "How a Wayland desktop is captured: by the compositor's own protocol (wlr); by the desktop's portal, whose dialog asks what to share "
        + "(portal); by GNOME without a dialog (mutter); or by the first of these that is there (auto). (default: auto)",
      valueName: "backend"))
  var waylandBackend: WaylandBackend?

  @Option(
    help: ArgumentHelp(
      "Capture only this monitor, by its number (0 is the first) or name, as `rtcast list monitors` shows them.",
      valueName: "n|name"))
  var monitor: String?

  @Option(
    help: ArgumentHelp(
      "Capture only this part of the screen; of a Wayland desktop, in the units of `rtcast list monitors`.",
      valueName: "WxH+X+Y"),
    transform: { try ScreenRegion(parsing: $0) })
  var region: ScreenRegion?

  @Option(
    help: ArgumentHelp(
      "Capture only this window of an X program, even while it is covered, by its number or a part of its title.",
      valueName: "id|title"))
  var window: String?

  @Option(
    help: ArgumentHelp(
      "Capture a monitor that the desktop makes for this cast, where a Wayland desktop can do that (GNOME, KDE Plasma).",
      valueName: "WxH"),
    transform: { try PictureSize(parsing: $0, option: "--virtual") })
  var virtual: PictureSize?

  @Flag(name: .customLong("no-cursor"), help: "Show no pointer, in the picture and on the viewer page.")
  var hidesCursor = false

  /// Whether a part of the screen, or a monitor beside it, was asked for.
  var namesPart: Bool { monitor != nil || region != nil || window != nil || virtual != nil }

  func validate() throws {
    let chosen = [
      monitor.map { _ in "--monitor" }, region.map { _ in "--region" }, window.map { _ in "--window" },
      virtual.map { _ in "--virtual" },
    ].compactMap(\.self)
    if chosen.count > 1 {
      throw ValidationError("\(chosen.joined(separator: " and ")) cannot be combined; give one of them.")
    }
    if virtual != nil, display != nil {
      throw ValidationError(
        "--virtual cannot be combined with --display: X11 makes no monitors. `rtcast run` starts a screen.")
    }
    if waylandBackend != nil, display != nil || window != nil {
      throw ValidationError(
        "--wayland-backend cannot be combined with \(display != nil ? "--display" : "--window"), which selects X11.")
    }
    if window?.isEmpty == true { throw ValidationError("--window takes a window's number or a part of its title.") }
    if monitor?.isEmpty == true { throw ValidationError("--monitor takes a monitor's number or name.") }
  }

  /// Not started yet. Asks the Wayland compositor, if there is one, whether it can be captured.
  func source(_ media: MediaOptions, _ logger: Logger) throws(CastFailure) -> CastRunner.Source {
    let way = way
    if let refusal = refusal(of: way) { throw CastFailure(refusal) }
    return source(capturer(way, socket: nil) { logger.warning("\($0)") }, media)
  }

  /// A source that may appear later, and go and come back: an X display, or a Wayland desktop. Not started yet.
  func waitingSource(_ media: MediaOptions, _ logger: Logger) throws(CastFailure) -> CastRunner.Source {
    do throws(CaptureError) {
      return source(WaitingCapturer(try surroundings(logger), hasCursor: !hidesCursor), media)
    } catch {
      throw CastFailure(error)
    }
  }

  /// The place that options or the environment name. If they name none, a Wayland desktop, and else an X display.
  private func surroundings(_ logger: Logger) throws(CaptureError) -> any CaptureSurroundings {
    let notices = Mutex<Set<String>>([])
    let notice: @Sendable (String) -> Void = { notice in
      // The desktop says the same each time that it appears.
      if notices.withLock({ $0.insert(notice).inserted }) { logger.warning("\(notice)") }
    }
    let isWayland = waylandBackend != nil || virtual != nil || Desktop.isSet("WAYLAND_DISPLAY")
    if !namesX11, isWayland { return waylandSurroundings(notice) }
    let displays = try X11Surroundings(captureOptions, prepare: { DisplayKeys.refresh() }, onNotice: notice)
    if namesX11 || Desktop.isSet("DISPLAY") { return displays }
    return EitherSurroundings(waylandSurroundings(notice), displays)
  }

  private func waylandSurroundings(_ notice: @escaping @Sendable (String) -> Void) -> WaylandSurroundings {
    let variable = getenv("WAYLAND_DISPLAY").map { String(cString: $0) } ?? ""
    return WaylandSurroundings(socket: variable.isEmpty ? nil : variable) { path in
      let desktop = waylandBackend == nil || waylandBackend == .auto ? Desktop.wayland(at: path) : nil
      if let refusal = desktop?.refusal { return .finding(.nothing(refusal.sentence)) }
      let way = desktop?.way ?? way
      if let refusal = refusal(of: way) { return .finding(.nothing(refusal.sentence)) }
      let finding = CaptureFinding.capturer(capturer(way, socket: path, notice))
      if case .portal(.portal) = way { return .dialog(finding) }
      return .finding(finding)
    }
  }

  private func source(_ capturer: any VideoCapturer, _ media: MediaOptions) -> CastRunner.Source {
    CastRunner.Source(
      media: MediaSource(video: capturer), name: targetName, frameRate: media.frameRate(otherwise: .screen),
      maximumSize: media.maximumSize)
  }

  private var captureOptions: X11CaptureOptions {
    X11CaptureOptions(display: display, target: target, cursor: !hidesCursor)
  }

  /// The reason why a desktop that is captured this way cannot do what the options ask for; nil: it can.
  private func refusal(of way: Desktop.Way) -> CaptureError? {
    guard virtual != nil else { return nil }
    switch way {
    case .portal: return nil
    case .screencopy:
      return .unavailable(
        "--virtual needs a desktop that makes a monitor for a cast: GNOME, or one with such a portal. Let this compositor add "
          + "a monitor itself, such as sway with `swaymsg create_output`, and cast it with --monitor.")
    case .x11:
      return .unavailable(
        "--virtual needs a Wayland desktop that makes a monitor for a cast, such as GNOME. On X11, `rtcast run` starts a "
          + "program on a screen of its own.")
    }
  }

  /// - Parameter socket: of the Wayland compositor; nil: the one of WAYLAND_DISPLAY.
  private func capturer(_ way: Desktop.Way, socket: String?, _ notice: @escaping @Sendable (String) -> Void)
    -> any VideoCapturer
  {
    switch way {
    case .screencopy:
      WaylandCapturer(
        options: WaylandCaptureOptions(socket: socket, target: waylandTarget, cursor: !hidesCursor), onNotice: notice)
    case .portal(let backend):
      PortalCapturer(
        options: PortalCaptureOptions(
          backend: backend, target: portalTarget, cursor: !hidesCursor, tokens: PortalToken.store), onNotice: notice)
    case .x11:
      X11Capturer(options: captureOptions, onNotice: notice)
    }
  }

  /// Whether the screen is looked for on X11 alone.
  var namesX11: Bool { display != nil || window != nil }

  private var way: Desktop.Way {
    if namesX11 { return .x11 }
    return switch waylandBackend {
    case .wlr: .screencopy
    case .portal: .portal(.portal)
    case .mutter: .portal(.mutter)
    case .auto, nil: Desktop.current.way
    }
  }

  private var targetName: String {
    if monitor != nil || virtual != nil { return "monitor" }
    if region != nil { return "region" }
    return window != nil ? "window" : "screen"
  }

  private var target: X11CaptureOptions.Target {
    if let monitor { return .monitor(monitor) }
    if let region { return .region(region.rect) }
    if let window { return .window(window) }
    return .screen
  }

  private var waylandTarget: WaylandCaptureOptions.Target {
    if let monitor { return .monitor(monitor) }
    if let region { return .region(region.rect) }
    return .screen
  }

  private var portalTarget: PortalCaptureOptions.Target {
    if let virtual { return .virtual(virtual.size) }
    if let monitor { return .monitor(monitor) }
    if let region { return .region(region.rect) }
    return .screen
  }
}

/// The token with which the desktop portal restores what its user chose before, without a dialog.
enum PortalToken {
  private static let limit = 4096

  /// Where it is kept: in the state folder.
  static let store = PortalCaptureOptions.TokenStore(
    load: {
      guard let path = StateFolder.path.map({ $0 + "/portal-token" }), WholeFile.exists(path),
        let bytes = try? WholeFile.read(path, limit: limit, what: "The portal's token")
      else { return nil }
      return String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init)
    },
    store: { token in
      guard token.utf8.count < limit, let folder = try? StateFolder.make() else { return }
      try? WholeFile.writeSecretly(Array((token + "\n").utf8), to: folder + "/portal-token")
    })
}

/// `--wayland-backend`.
enum WaylandBackend: String, ExpressibleByArgument, CaseIterable {
  case auto, wlr, portal, mutter
}
