import ArgumentParser
import RTCAudio
import RTCCapture
import RTCCaptureCamera
import RTCCapturePlugin
import RTCCaptureWayland
import RTCCaptureX11
import RTCMedia
import RTCSignaling
import RTCast

struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract:
      "List what can be cast: screen, monitors, windows, cameras, audio devices, plugins, test patterns; codecs; and peers.",
    discussion: """
      Prints names and numbers as --monitor, --window, --audio, --pattern and `rtcast plugin` take them. Plugins are \
      searched for in the folders of RTCAST_PLUGIN_PATH, and each is loaded in a process of its own. Peers that can be \
      called at a hub are listed with --server, or by `rtcast list peers`.

      Examples:
        rtcast list
        rtcast list plugins
        rtcast list peers --server wss://hub.example
        rtcast list --display :1
        rtcast list --json
      """)

  /// A part of the list.
  enum Part: String, CaseIterable, ExpressibleByArgument {
    case screen, monitors, windows, cameras, audio, plugins, patterns, codecs, peers
  }

  @Argument(help: ArgumentHelp("Part of the list. (default: everything, without peers)", valueName: "what"))
  var part: Part?

  @Option(help: ArgumentHelp("X display. (default: $DISPLAY)", valueName: "name"))
  var display: String?

  @Option(
    help: ArgumentHelp(
      "Hub whose peers are listed, such as wss://hub.example. (default: $RTCAST_SERVER)", valueName: "url"),
    transform: { try HubChoice.address($0) })
  var server: LinkedHub?

  @Option(
    name: .customLong("name"),
    help: ArgumentHelp("Name to register at the hub, if it admits known names only.", valueName: "name"))
  var ownName: String?

  @OptionGroup var token: TokenOptions

  @Flag(help: "Print one JSON object on standard output; docs/json.md describes it.")
  var json = false

  @OptionGroup var sandbox: SandboxOptions

  func validate() throws {
    let namesToken = token.token != nil || token.tokenFile != nil
    if let part, part != .peers, server != nil || namesToken || ownName != nil {
      throw ValidationError(
        "--server, --name and --token are for `rtcast list peers`, not for `rtcast list \(part.rawValue)`.")
    }
    if part == nil, server == nil, namesToken || ownName != nil {
      throw ValidationError("--name and --token are for a hub; name it with --server.")
    }
  }

  func run() async throws {
    let parts = part.map { [$0] } ?? Part.allCases.filter { $0 != .peers || server != nil }
    var finds = Finds()
    if parts.contains(where: \.isOfDisplay), display == nil {
      let desktop = Desktop.current
      if desktop.isWayland { finds.wayland = desktop.wayland.map { ($0, desktop.refusal) } }
    }
    if let (_, refusal) = finds.wayland, part == .screen || part == .monitors {
      if let refusal { throw Self.complain(refusal) }
    } else if parts.contains(where: \.isOfDisplay) {
      finds.screens = Result { () throws(CaptureError) in try X11Screens.list(display: display) }
      if case .failure(let error) = finds.screens, display != nil || part != nil { throw Self.complain(error) }
      if let error = finds.screenRefusal, part == .screen || part == .monitors { throw Self.complain(error) }
    }
    if parts.contains(.audio) {
      finds.sound = Result { () throws(CaptureError) in try PulseDevices.list() }
      if case .failure(let error) = finds.sound, part != nil { throw Self.complain(error) }
    }
    if parts.contains(.cameras) {
      finds.cameras = Result { () throws(CaptureError) in try FoundCamera.all() }
      if case .failure(let error) = finds.cameras, part != nil { throw Self.complain(error) }
    }
    if parts.contains(.peers) {
      do throws(CastFailure) {
        finds.peers = try await HubPeers.list(at: server, as: ownName, token: token)
      } catch {
        Terminal.complain(error.sentence)
        throw error.status.code
      }
    }
    if parts.contains(.plugins) { finds.plugins = FoundPlugin.all() }
    if json {
      Terminal.print(JSONValue.object(parts.map { ($0.key, finds.value(of: $0)) }).text)
    } else {
      let sections = parts.map { [$0.title] + finds.lines(of: $0) }
      for line in sections.joined(separator: [""]) { Terminal.print(line) }
    }
    try Terminal.finish()
  }

  private static func complain(_ error: CaptureError) -> ExitCode {
    let failure = CastFailure(error)
    Terminal.complain(failure.sentence)
    return failure.status.code
  }
}

extension ListCommand.Part {
  fileprivate var isOfDisplay: Bool { self == .screen || self == .monitors || self == .windows }

  fileprivate var title: String {
    switch self {
    case .screen: "Screen"
    case .monitors: "Monitors"
    case .windows: "Windows"
    case .cameras: "Cameras"
    case .audio: "Audio"
    case .plugins: "Plugins"
    case .patterns: "Test patterns"
    case .codecs: "Codecs"
    case .peers: "Peers"
    }
  }

  /// In the JSON object.
  fileprivate var key: String { rawValue }
}

/// A library of the search path, and its description.
private struct FoundPlugin {
  var library: PluginSearch.Found
  var description: Result<PluginDescription, CaptureError>

  static func all() -> [FoundPlugin] {
    PluginSearch.ofEnvironment.plugins().map { found in
      FoundPlugin(
        library: found,
        description: Result { () throws(CaptureError) in try PluginHostProgram.rtcast.describe(found.path) })
    }
  }
}

/// The results of the search; nil: not searched.
private struct Finds {
  var screens: Result<X11Screens, CaptureError>?
  /// The Wayland desktop, if it has the screen and the monitors; the windows are those of the X display.
  var wayland: (found: Result<WaylandScreens, CaptureError>, refusal: CaptureError?)?
  var cameras: Result<[FoundCamera], CaptureError>?
  var sound: Result<PulseDevices, CaptureError>?
  var peers: [String] = []
  var plugins: [FoundPlugin] = []

  /// Why the display has windows and no screen.
  var screenRefusal: CaptureError? { (try? screens?.get())?.screenRefusal }

  // MARK: - For people

  func lines(of part: ListCommand.Part) -> [String] {
    switch part {
    case .screen, .monitors, .windows: displayLines(part)
    case .cameras:
      switch cameras {
      case .success(let found): Self.table(found.map(Self.cells), ifEmpty: "none")
      case .failure(let error): ["  none: \(error.sentence)"]
      case nil: []
      }
    case .audio:
      switch sound {
      case .success(let found):
        Self.table(
          found.devices.map(Self.cells) + found.programs.map { ["", "app:\($0.printable)", "plays now"] },
          ifEmpty: "no devices")
      case .failure(let error): ["  none: \(error.sentence)"]
      case nil: []
      }
    case .plugins: pluginLines
    case .patterns: ["  " + SyntheticPattern.allCases.map(\.rawValue).joined(separator: "  ")]
    case .codecs: ["  " + CodecRegistry.standard.codecs.map(\.rawValue).joined(separator: "  ")]
    case .peers: peers.isEmpty ? ["  nobody"] : peers.map { "  \($0.printable)" }
    }
  }

  private func displayLines(_ part: ListCommand.Part) -> [String] {
    if let wayland, part != .windows { return Self.lines(wayland, part) }
    switch screens {
    case .success(let screens):
      if let screenRefusal, part != .windows {
        return [part == .screen ? "  none: \(screenRefusal.sentence)" : "  none"]
      }
      return switch part {
      case .monitors: Self.table(screens.monitors.map(Self.cells), ifEmpty: "none known to the display")
      case .windows: Self.table(screens.windows.map(Self.cells), ifEmpty: "none with a title")
      default: ["  \(screens.display)  \(screens.size)"]
      }
    case .failure(let error): return ["  none: \(error.sentence)"]
    case nil: return []
    }
  }

  private static func lines(
    _ wayland: (found: Result<WaylandScreens, CaptureError>, refusal: CaptureError?), _ part: ListCommand.Part
  ) -> [String] {
    do throws(CaptureError) {
      if let refusal = wayland.refusal { throw refusal }
      let found = try wayland.found.get()
      if part == .monitors { return table(found.monitors.map(cells), ifEmpty: "none") }
      return ["  \(found.socket)  \(found.size)  \(found.compositor ?? "")"]
    } catch {
      return [part == .screen ? "  none: \(error.sentence)" : "  none"]
    }
  }

  private var pluginLines: [String] {
    guard !plugins.isEmpty else {
      let folders = PluginSearch.ofEnvironment.folders
      return [
        folders.isEmpty
          ? "  none: set \(PluginSearch.variable) to the folders that hold them"
          : "  none in \(folders.joined(separator: ", "))"
      ]
    }
    return Self.table(
      plugins.map { plugin in
        switch plugin.description {
        case .success(let description):
          [plugin.library.name.printable, description.media, description.summary.printable]
        case .failure(let error): [plugin.library.name.printable, "unusable", error.sentence.printable]
        }
      }, ifEmpty: "none")
  }

  private static func cells(_ monitor: X11Monitor) -> [String] {
    ["\(monitor.index)", monitor.name, monitor.rect.geometry, monitor.isPrimary ? "primary" : ""]
  }

  private static func cells(_ monitor: WaylandMonitor) -> [String] {
    let isScaled = monitor.size != PixelSize(width: monitor.rect.width, height: monitor.rect.height)
    return [
      "\(monitor.index)", monitor.name.printable, monitor.rect.geometry, isScaled ? "\(monitor.size) pixels" : "",
    ]
  }

  private static func cells(_ window: X11Window) -> [String] {
    [window.idText, window.rect.geometry, window.title.printable + (window.isMapped ? "" : " (minimised)")]
  }

  private static func cells(_ camera: FoundCamera) -> [String] {
    let modes = camera.formats.map { "\($0.size)@\(Int($0.frameRates.upperBound.rounded()))" }
    return [camera.path, camera.name.printable, modes.prefix(6).joined(separator: " ") + (modes.count > 6 ? " …" : "")]
  }

  private static func cells(_ device: PulseDevice) -> [String] {
    let kind = device.kind == .desktop ? "desktop" : "mic"
    return [device.isDefault ? kind : "", device.name.printable, device.description.printable]
  }

  /// Columns as wide as their widest cell.
  private static func table(_ rows: [[String]], ifEmpty: String) -> [String] {
    guard let first = rows.first else { return ["  \(ifEmpty)"] }
    let widths = first.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = row.enumerated().map { index, cell in
        index == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[index] - cell.count)
      }
      let line = "  " + cells.joined(separator: "  ")
      return String(line[...(line.lastIndex { $0 != " " } ?? line.startIndex)])
    }
  }

  // MARK: - For programs

  func value(of part: ListCommand.Part) -> JSONValue {
    let screens = try? screens?.get()
    let refusal = wayland?.refusal
    let wayland = try? wayland?.found.get()
    switch part {
    case .screen where wayland != nil: return wayland.map { Self.object($0, refusal) } ?? .null
    case .monitors where wayland != nil:
      return .array((refusal == nil ? wayland?.monitors ?? [] : []).map(Self.object))
    case .screen:
      return screens.map { found in
        let refusal = found.screenRefusal.map { [("error", JSONValue.string($0.sentence))] } ?? []
        return .object([("display", .string(found.display))] + found.size.members + refusal)
      } ?? .null
    case .monitors: return .array((screenRefusal == nil ? screens?.monitors ?? [] : []).map(Self.object))
    case .windows: return .array((screens?.windows ?? []).map(Self.object))
    case .cameras: return .array(((try? cameras?.get()) ?? []).map(Self.object))
    case .audio:
      let found = try? sound?.get()
      return .array((found?.devices ?? []).map(Self.object) + (found?.programs ?? []).map(Self.object(ofProgram:)))
    case .plugins: return .array(plugins.map(Self.object))
    case .patterns: return .array(SyntheticPattern.allCases.map { .string($0.rawValue) })
    case .codecs: return .array(CodecRegistry.standard.codecs.map { .string($0.rawValue) })
    case .peers: return .array(peers.map { .string($0) })
    }
  }

  private static func object(_ wayland: WaylandScreens, _ refusal: CaptureError?) -> JSONValue {
    let refusal = refusal.map { [("error", JSONValue.string($0.sentence))] } ?? []
    return .object([("display", .string(wayland.socket))] + wayland.size.members + refusal)
  }

  private static func object(_ monitor: WaylandMonitor) -> JSONValue {
    .object(
      [("index", .count(monitor.index)), ("name", .string(monitor.name)), ("primary", .bool(false))]
        + monitor.rect.members)
  }

  private static func object(_ monitor: X11Monitor) -> JSONValue {
    .object(
      [("index", .count(monitor.index)), ("name", .string(monitor.name)), ("primary", .bool(monitor.isPrimary))]
        + monitor.rect.members)
  }

  private static func object(_ window: X11Window) -> JSONValue {
    .object(
      [("id", .string(window.idText)), ("title", .string(window.title)), ("mapped", .bool(window.isMapped))]
        + window.rect.members)
  }

  private static func object(_ camera: FoundCamera) -> JSONValue {
    .object([
      ("path", .string(camera.path)), ("name", .string(camera.name)),
      (
        "formats",
        .array(camera.formats.map { .object($0.size.members + [("fps", .number($0.frameRates.upperBound))]) })
      ),
    ])
  }

  private static func object(_ device: PulseDevice) -> JSONValue {
    .object([
      ("name", .string(device.name)), ("description", .string(device.description)),
      ("kind", .string(device.kind.rawValue)), ("default", .bool(device.isDefault)),
    ])
  }

  private static func object(ofProgram name: String) -> JSONValue {
    .object([
      ("name", .string("app:\(name)")), ("description", .string(name)), ("kind", .string("program")),
      ("default", .bool(false)),
    ])
  }

  private static func object(_ plugin: FoundPlugin) -> JSONValue {
    let place: [(String, JSONValue)] = [
      ("name", .string(plugin.library.name)), ("path", .string(plugin.library.path)),
    ]
    switch plugin.description {
    case .success(let description):
      return .object(
        place + [
          ("summary", .string(description.summary)), ("options", .string(description.optionsHelp)),
          ("pictures", .bool(description.hasPictures)), ("sound", .bool(description.hasSound)),
        ])
    case .failure(let error): return .object(place + [("error", .string(error.sentence))])
    }
  }
}

extension PluginDescription {
  fileprivate var media: String {
    switch (hasPictures, hasSound) {
    case (true, true): "pictures, sound"
    case (true, false): "pictures"
    default: "sound"
    }
  }
}

extension PixelSize {
  fileprivate var members: [(String, JSONValue)] { [("width", .count(width)), ("height", .count(height))] }
}

extension PixelRect {
  fileprivate var geometry: String { "\(width)x\(height)\(x < 0 ? "" : "+")\(x)\(y < 0 ? "" : "+")\(y)" }

  fileprivate var members: [(String, JSONValue)] {
    [("x", .count(x)), ("y", .count(y)), ("width", .count(width)), ("height", .count(height))]
  }
}
