import ArgumentParser
import RTCAudio
import RTCCapture
import RTCCaptureX11
import RTCMedia
import RTCast

struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List what can be cast: screen, monitors, windows, sound, test patterns; and codecs.",
    discussion: """
      Names and numbers are as --monitor, --window, --audio and --pattern take them.

      Examples:
        rtcast list
        rtcast list --display :1
        rtcast list --json
      """)

  @Option(help: ArgumentHelp("X display. (default: $DISPLAY)", valueName: "name"))
  var display: String?

  @Flag(help: "One JSON object on standard output.")
  var json = false

  func run() throws {
    var screens: X11Screens?
    var trouble: CastFailure?
    do throws(CaptureError) { screens = try X11Screens.list(display: display) } catch { trouble = CastFailure(error) }
    if let trouble, display != nil {
      Terminal.complain(trouble.sentence)
      throw trouble.status.code
    }
    let sound = Result { () throws(CaptureError) in try PulseDevices.list() }
    if json {
      Terminal.print(Self.object(screens, sound).text)
    } else {
      for line in Self.lines(screens, trouble: trouble?.sentence, sound) { Terminal.print(line) }
    }
  }

  private static func lines(
    _ screens: X11Screens?, trouble: String?, _ sound: Result<PulseDevices, CaptureError>
  ) -> [String] {
    var lines = ["Screen"]
    if let screens {
      lines.append("  \(screens.display)  \(screens.size)")
      lines += ["", "Monitors"] + table(screens.monitors.map(cells), ifEmpty: "none known to the display")
      lines += ["", "Windows"] + table(screens.windows.map(cells), ifEmpty: "none with a title")
    } else {
      lines.append("  none: \(trouble ?? "no display")")
    }
    lines += ["", "Audio"]
    switch sound {
    case .success(let found): lines += table(found.devices.map(cells), ifEmpty: "no devices")
    case .failure(let error): lines.append("  none: \(error.sentence)")
    }
    lines += ["", "Test patterns", "  " + SyntheticPattern.allCases.map(\.rawValue).joined(separator: "  ")]
    lines += ["", "Codecs", "  " + CodecRegistry.standard.codecs.map(\.rawValue).joined(separator: "  ")]
    return lines
  }

  private static func cells(_ monitor: X11Monitor) -> [String] {
    ["\(monitor.index)", monitor.name, monitor.rect.geometry, monitor.isPrimary ? "primary" : ""]
  }

  private static func cells(_ window: X11Window) -> [String] {
    [window.idText, window.rect.geometry, window.title.printable + (window.isMapped ? "" : " (minimised)")]
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

  private static func object(_ screens: X11Screens?, _ sound: Result<PulseDevices, CaptureError>) -> JSONValue {
    let screen: JSONValue = screens.map { .object([("display", .string($0.display))] + $0.size.members) } ?? .null
    let monitors = screens?.monitors.map { monitor in
      JSONValue.object(
        [("index", .count(monitor.index)), ("name", .string(monitor.name)), ("primary", .bool(monitor.isPrimary))]
          + monitor.rect.members)
    }
    let windows = screens?.windows.map { window in
      JSONValue.object(
        [("id", .string(window.idText)), ("title", .string(window.title)), ("mapped", .bool(window.isMapped))]
          + window.rect.members)
    }
    let devices = (try? sound.get())?.devices.map { device in
      JSONValue.object([
        ("name", .string(device.name)), ("description", .string(device.description)),
        ("kind", .string(device.kind.rawValue)), ("default", .bool(device.isDefault)),
      ])
    }
    return [
      "screen": screen, "monitors": .array(monitors ?? []), "windows": .array(windows ?? []),
      "audio": .array(devices ?? []), "patterns": .array(SyntheticPattern.allCases.map { .string($0.rawValue) }),
      "codecs": .array(CodecRegistry.standard.codecs.map { .string($0.rawValue) }),
    ]
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
