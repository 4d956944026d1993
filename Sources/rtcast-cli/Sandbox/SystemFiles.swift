import CPaths
import Glibc

/// Files of the system and of the user's session that libraries read, by purpose.
enum SystemFiles {
  static let libraries =
    [
      "/usr", "/lib", "/lib64", "/lib32", "/bin", "/etc", "/opt", "/nix/store", "/gnu/store", "/run/current-system",
      "/run/opengl-driver", "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/run/udev",
      "/var/lib/dbus/machine-id", "/proc", "/sys",
    ] + [programFolder].compactMap(\.self).filter { !holdsHome($0) }

  static let devices = [
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/pts", "/dev/ptmx",
  ]

  /// The files of the graphics card, including NVIDIA's own names.
  static var graphics: [String] {
    ["/dev/dri"] + names(in: "/dev").filter { $0.hasPrefix("nvidia") }.map { "/dev/\($0)" }
  }

  /// The cameras that there are now.
  static var cameras: [String] {
    names(in: "/dev").filter { $0.hasPrefix("video") || $0.hasPrefix("media") || $0 == "v4l" }.map { "/dev/\($0)" }
  }

  /// Libraries, certificates and settings that variables name, each a list with colons or a path.
  static var namedByEnvironment: [String] {
    [
      "LD_LIBRARY_PATH", "LD_PRELOAD", "SSL_CERT_FILE", "SSL_CERT_DIR", "OPENSSL_CONF", "OPENSSL_MODULES", "LOCPATH",
      "TZDIR", "LIBGL_DRIVERS_PATH", "XLOCALEDIR", "__EGL_VENDOR_LIBRARY_DIRS",
    ].flatMap { (variable($0) ?? "").split(whereSeparator: { ": ".contains($0) }).map(String.init) }
  }

  /// Keys of displays and the sound server, and their clients' settings.
  static var ofSession: [String] {
    let named = ["XAUTHORITY", "PULSE_COOKIE", "PULSE_CLIENTCONFIG", "PULSE_CONFIG_PATH"].compactMap(variable)
    let runtime = variable("XDG_RUNTIME_DIR").map { [$0 + "/pulse", $0 + "/pipewire-0"] } ?? []
    let config = variable("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" }
    let settings = config.map { [$0 + "/pulse", $0 + "/pipewire"] } ?? []
    let own = home.map { home in
      [".Xauthority", ".XCompose", ".Xdefaults", ".pulse", ".pulse-cookie", ".icons", ".local/share/icons", ".drirc"]
        .map { "\(home)/\($0)" }
    }
    return named + runtime + settings + (own ?? [])
  }

  /// All files but the hidden ones in the user's home folder, where keys and passwords are kept.
  static var allButHidden: [String] {
    guard let home, let path = resolved(home) else { return ["/"] }
    var allowed: [String] = []
    var folder = ""
    for part in path.split(separator: "/") {
      allowed += names(in: folder.isEmpty ? "/" : folder).filter { $0 != part }.map { "\(folder)/\($0)" }
      folder += "/" + part
    }
    return allowed + names(in: folder.isEmpty ? "/" : folder).filter { !$0.hasPrefix(".") }.map { "\(folder)/\($0)" }
  }

  /// Whether the user's home folder is this folder or in it.
  static func holdsHome(_ folder: String) -> Bool {
    guard let home = home.flatMap(resolved), let folder = resolved(folder) else { return false }
    return folder == "/" || (home + "/").hasPrefix(folder + "/")
  }

  private static var programFolder: String? {
    resolved("/proc/self/exe").flatMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } }
  }

  private static var home: String? { variable("HOME").flatMap { $0.hasPrefix("/") ? $0 : nil } }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The file that a path leads to, without links; `nil` if there is none.
  static func resolved(_ path: String) -> String? {
    guard let found = rtcast_resolved_path(path) else { return nil }
    defer { free(found) }
    return String(cString: found)
  }

  /// The names in a folder, without links.
  private static func names(in folder: String) -> [String] {
    guard let list = opendir(folder) else { return [] }
    defer { closedir(list) }
    var names: [String] = []
    while let entry = readdir(list) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      // The target of a link has a path of its own, and may lead to files that must stay closed.
      if name != ".", name != "..", entry.pointee.d_type != DT_LNK { names.append(name) }
    }
    return names
  }
}
