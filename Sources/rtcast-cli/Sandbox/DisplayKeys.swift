import Glibc
import RTCCaptureX11
import RTCIsolation
import Synchronization

/// The keys of displays that appear while this process runs confined: the launcher opens their files.
enum DisplayKeys {
  private static let keys = Mutex<X11Keys?>(nil)

  /// The files in which display managers and desktops keep them. XAUTHORITY counts as long as its file is there: a new login may
  /// have another one.
  static var files: FileChoice {
    func variable(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    let runtime = variable("XDG_RUNTIME_DIR") ?? "/run/user/\(geteuid())"
    var others = [
      FileChoice.Pattern(folder: runtime + "/gdm", beginning: "Xauthority"),
      FileChoice.Pattern(folder: runtime, beginning: "xauth_"),
      FileChoice.Pattern(folder: runtime, beginning: ".mutter-Xwaylandauth."),
    ]
    if let home = variable("HOME") { others.append(FileChoice.Pattern(folder: home, beginning: ".Xauthority")) }
    return FileChoice(first: variable("XAUTHORITY"), others: others)
  }

  /// Leads libraries to memory in the place of a file. Before the first thread.
  static func begin() { keys.withLock { $0 = X11Keys() } }

  /// Reads the keys again, before a connection to a display. Does nothing in a process that is not confined, which reads the
  /// files itself.
  static func refresh() {
    keys.withLock { keys in
      guard let keys, let launcher = Launcher.current else { return }
      let file = launcher.openKeys()
      keys.replace(with: file)
      if let file { close(file) }
    }
  }
}
