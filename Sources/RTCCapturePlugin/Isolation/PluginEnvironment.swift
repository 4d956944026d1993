import CLinux

/// The environment of a plugin's process: what programs need to find libraries, displays and words, by name. Secrets that this
/// program was given in its own (`RTCAST_TOKEN`, passwords of servers) stay here.
package enum PluginEnvironment {
  private static let names: Set = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE", "TERM",
    "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "PULSE_SERVER", "PULSE_COOKIE", "PIPEWIRE_REMOTE",
    "LD_LIBRARY_PATH", "LD_PRELOAD", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
  ]
  private static let prefixes = ["LC_", "XDG_"]

  /// The variables of this process that a plugin's gets, each as `NAME=value`.
  package static func variables() -> [String] {
    var result: [String] = []
    guard var place = unsafe clinux_environment() else { return [] }
    while let text = unsafe place.pointee {
      let variable = unsafe String(cString: text)
      if isPassedOn(variable.prefix { $0 != "=" }) { result.append(variable) }
      unsafe place += 1
    }
    return result
  }

  package static func isPassedOn(_ name: Substring) -> Bool {
    names.contains(String(name)) || prefixes.contains { name.hasPrefix($0) }
  }
}
