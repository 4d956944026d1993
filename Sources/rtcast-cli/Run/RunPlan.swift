import Glibc
import RTCMedia

/// The parts of a run, fixed before the program confines itself.
struct RunPlan: Sendable {
  var server: DisplayServer
  var size: PixelSize
  /// Whether a sound server is started.
  var hasSound: Bool
  /// A command line for the shell; nil: no window manager.
  var windowManager: String?
  var command: [String]
  /// Whether standard output is the program's: then that of the command goes to standard error.
  var keepsOutput: Bool
  var folder: RunFolder

  var parts: Set<RunMachine.Part> {
    var parts: Set<RunMachine.Part> = [.display, .command]
    if hasSound { parts.insert(.sound) }
    if windowManager != nil { parts.insert(.windowManager) }
    return parts
  }

  /// The sink that the command plays into.
  static let sink = "rtcast"

  /// The sound server's words: nothing but a sink that plays to nobody, at a socket in the folder.
  var soundArguments: [String] {
    [
      "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=yes",
      "--realtime=no", "--high-priority=no", "-L",
      "module-native-protocol-unix socket=\(folder.soundSocket) auth-anonymous=1", "-L",
      "module-null-sink sink_name=\(Self.sink) rate=48000 channels=2 sink_properties=device.description=rtcast",
    ]
  }

  /// The environment of the window manager and the command.
  func environment(display: String) -> [String] {
    var changed = ["DISPLAY": display, "XAUTHORITY": folder.key, "PULSE_SERVER": folder.soundServer]
    // Programs that could choose would open on the desktop of the user.
    changed["XDG_SESSION_TYPE"] = "x11"
    changed["GDK_BACKEND"] = "x11"
    if hasSound { changed["PULSE_SINK"] = Self.sink }
    return Self.environment(changing: changed, without: ["WAYLAND_DISPLAY", "WAYLAND_SOCKET", "PULSE_SOURCE"])
  }

  /// The environment of the display and the sound server: their files are in the folder.
  var serverEnvironment: [String] {
    Self.environment(
      changing: ["HOME": folder.path, "XDG_RUNTIME_DIR": folder.path, "XDG_CONFIG_HOME": folder.path],
      without: ["DISPLAY", "XAUTHORITY", "PULSE_SERVER", "DBUS_SESSION_BUS_ADDRESS"])
  }

  private static func environment(changing changed: [String: String], without removed: Set<String>) -> [String] {
    var lines: [String] = []
    var next = environ
    while let line = next.pointee {
      let text = String(cString: line)
      let name = String(text.prefix { $0 != "=" })
      if changed[name] == nil, !removed.contains(name) { lines.append(text) }
      next += 1
    }
    return lines + changed.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
  }
}
