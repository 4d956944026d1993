import Glibc
package import RTCAudio
package import RTCCaptureCamera
package import RTCCaptureX11
package import RTCMedia

/// The sources that can be cast on this machine. Nil: they were not found in time.
package struct Overview: Sendable {
  package var screens: Result<X11Screens, CaptureError>?
  package var cameras: Result<[FoundCamera], CaptureError>?
  package var sound: Result<PulseDevices, CaptureError>?
  /// Whether this is a session of Wayland.
  package var isWayland = getenv("WAYLAND_DISPLAY").map { $0.pointee != 0 } ?? false
  /// Whether the Wayland desktop of this session can be captured.
  package var capturesWayland: Bool?

  package init() {}

  /// A line of text, and the command at its end.
  package struct Line: Sendable, Hashable {
    package var text: String
    package var command = ""
  }

  /// Ten lines at most.
  package func lines(columns: Int) -> [Line] {
    let rows = [screenRow, windowRow, cameraRow, soundRow] + Self.always
    let widest = rows.map { $0.kind.count }.max() ?? 0
    // A command is never cut: it is to be typed, or copied.
    let commands = rows.map { $0.command.count }.max() ?? 0
    let room = max(16, min(34, columns - widest - commands - 6))
    let table = rows.map { row in
      let found = Self.fitted(row.found, to: room)
      let text = "  " + Self.padded(row.kind, to: widest) + "  " + Self.padded(found, to: room) + "  "
      return Line(text: text, command: row.command)
    }
    return [Line(text: "rtcast casts to any browser. What can be cast here, and the command for it:")] + table + [
      Line(text: "For viewers on other machines, add ", command: "--listen 0.0.0.0:8080 --tls"),
      Line(text: "`rtcast doctor` says what is missing here; all commands: ", command: "rtcast --help"),
    ]
  }

  private struct Row {
    var kind: String
    var found: String
    var command = ""
  }

  private static let always = [
    Row(kind: "file", found: "films and recordings", command: "rtcast file talk.mp4"),
    Row(kind: "hub", found: "calls, rooms, streams of others", command: "rtcast serve --tls"),
  ]

  private static let late = "no answer yet"

  private var screenRow: Row {
    if isWayland {
      switch capturesWayland {
      case true?: return Row(kind: "screen", found: "this Wayland desktop", command: "rtcast screen")
      case false?: break
      case nil: return Row(kind: "screen", found: Self.late, command: "rtcast screen")
      }
    }
    switch screens {
    case .success(let screens) where screens.screenRefusal == nil:
      let monitors = screens.monitors.count
      let size = "\(screens.size.width)x\(screens.size.height)"
      return Row(
        kind: "screen", found: monitors > 1 ? "\(size), \(monitors) monitors" : size, command: "rtcast screen")
    case .success: return Row(kind: "screen", found: "hidden by Wayland", command: "rtcast doctor")
    case .failure:
      let found = isWayland ? "hidden by Wayland" : getenv("DISPLAY") == nil ? "no X display" : "X display not reached"
      return Row(kind: "screen", found: found, command: "rtcast test")
    case nil: return Row(kind: "screen", found: Self.late, command: "rtcast screen")
    }
  }

  private var windowRow: Row {
    guard let screens = try? screens?.get() else { return Row(kind: "windows", found: "none") }
    let shown = screens.windows.count(where: \.isMapped)
    return Row(
      kind: "windows", found: shown == 0 ? "none" : "\(shown)", command: shown == 0 ? "" : "rtcast screen --pick")
  }

  private var cameraRow: Row {
    switch cameras {
    case .success(let cameras):
      guard let first = cameras.first else { return Row(kind: "camera", found: "none") }
      let more = cameras.count > 1 ? "\(cameras.count): " : ""
      return Row(kind: "camera", found: more + first.name.printable, command: "rtcast camera")
    case .failure: return Row(kind: "camera", found: "not permitted", command: "rtcast list cameras")
    case nil: return Row(kind: "camera", found: Self.late, command: "rtcast camera")
    }
  }

  private var soundRow: Row {
    switch sound {
    case .success(let sound):
      var kinds: [String] = []
      if sound.devices.contains(where: { $0.kind == .desktop }) { kinds.append("what this machine plays") }
      if sound.devices.contains(where: { $0.kind == .microphone }) { kinds.append("microphone") }
      guard !kinds.isEmpty else { return Row(kind: "sound", found: "none") }
      let choice = kinds.count == 1 && kinds[0] == "microphone" ? "mic" : "desktop"
      return Row(kind: "sound", found: kinds.joined(separator: ", "), command: "rtcast screen --audio \(choice)")
    case .failure: return Row(kind: "sound", found: "no sound server")
    case nil: return Row(kind: "sound", found: Self.late, command: "rtcast screen --audio desktop")
    }
  }

  private static func fitted(_ text: String, to count: Int) -> String {
    text.count <= count ? text : String(text.prefix(count - 1)) + "…"
  }

  private static func padded(_ text: String, to count: Int) -> String {
    text + String(repeating: " ", count: max(0, count - text.count))
  }
}
