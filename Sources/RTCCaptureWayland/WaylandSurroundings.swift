import Glibc
package import RTCCapture
import RTCNet
package import RTCPrimitives
import Synchronization

/// The Wayland desktop of this user, which is captured when it is there.
package final class WaylandSurroundings: CaptureSurroundings {
  /// Desktops that are looked for without a name have lower numbers.
  private static let mostSockets = 32
  /// The least interval between two dialogs of one desktop, in which a person is asked for the screen.
  package static let dialogInterval = TimeDelta.seconds(30)

  /// A capturer for the desktop that accepts connections at the path of a socket.
  package enum Choice: Sendable {
    case finding(CaptureFinding)
    /// A person is asked for the screen, by a dialog of the desktop.
    case dialog(CaptureFinding)
  }

  private let folder: SocketFolder
  /// The name of the socket; nil: any.
  private let name: String?
  private let choose: @Sendable (_ path: String) -> Choice
  /// The last dialog: of which desktop, and when.
  private let lastDialog = Mutex<(desktop: SocketFolder.Socket, time: Timestamp)?>(nil)

  /// The folder of the user's sockets: XDG_RUNTIME_DIR, or its usual place where the variable is not set.
  package static var sessionFolder: String {
    let variable = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? ""
    return variable.isEmpty ? "/run/user/\(geteuid())" : variable
  }

  /// - Parameters:
  ///   - socket: the name of the desktop's socket, or its path; nil: `wayland-0`, `wayland-1` and so on, the first that is there.
  ///   - choose: called on the thread that waits.
  package init(
    socket: String?, folder: String = WaylandSurroundings.sessionFolder, choose: @escaping @Sendable (String) -> Choice
  ) {
    self.choose = choose
    guard let socket, let slash = socket.lastIndex(of: "/") else {
      (name, self.folder) = (socket, SocketFolder(folder))
      return
    }
    name = String(socket[socket.index(after: slash)...])
    self.folder = SocketFolder(String(socket[..<slash]))
  }

  package var descriptors: [Int32] { folder.descriptors }

  package func takeChanges() -> Bool { folder.takeChanges() }

  package func find() -> CaptureFinding {
    folder.watch()
    let names = name.map { [$0] } ?? (0..<Self.mostSockets).map { "wayland-\($0)" }
    for name in names {
      if let socket = folder.socket(name), folder.accepts(name) { return find(socket, at: "\(folder.path)/\(name)") }
    }
    return .nothing("No Wayland desktop runs \(name.map { "at \(folder.path)/\($0)" } ?? "for this user").")
  }

  private func find(_ socket: SocketFolder.Socket, at path: String) -> CaptureFinding {
    let now = MonotonicClock.now()
    if let last = lastDialog.withLock({ $0 }), last.desktop == socket, now - last.time < Self.dialogInterval {
      return .nothing("The desktop’s dialog was answered with no, or the sharing was ended there. It asks again soon.")
    }
    switch choose(path) {
    case .finding(let finding): return finding
    case .dialog(let finding):
      lastDialog.withLock { $0 = (socket, now) }
      return finding
    }
  }
}
