package import ArgumentParser
import Glibc
import RTCNet

/// The path of a control socket. A name without a slash stands for `$XDG_RUNTIME_DIR/rtcast/NAME.sock`.
package struct ControlPath: Hashable, Sendable {
  /// How a path is told from other values of `--control`.
  static let prefix = "unix:"
  private static let suffix = ".sock"

  package let path: String
  /// Whether it is in the folder of control sockets, which is made for it.
  let isNamed: Bool

  /// Reads `unix:PATH`, `PATH`, `unix:NAME` or `NAME`.
  package init(
    parsing text: String, option: String, folder: String? = ControlPath.folder
  ) throws(ValidationError) {
    let place = text.hasPrefix(Self.prefix) ? String(text.dropFirst(Self.prefix.count)) : text
    guard !place.isEmpty else {
      throw ValidationError("\(option) takes the path of a Unix socket, such as unix:/run/user/1000/talk.sock.")
    }
    isNamed = !place.contains("/")
    guard isNamed else {
      path = place
      return
    }
    guard let folder else {
      throw ValidationError(
        "\(option) \(text) needs the variable XDG_RUNTIME_DIR; give a path with a slash instead, such as ./\(place).")
    }
    path = folder + "/" + place + Self.suffix
  }

  init(found path: String) {
    self.path = path
    isNamed = true
  }

  var socket: UnixSocket { UnixSocket(path: path) }

  /// Whether a program listens there.
  var isLive: Bool {
    guard let found = try? socket.connect() else { return false }
    close(found)
    return true
  }

  /// The folder of sockets that have names; nil when the user's session has none.
  package static var folder: String? {
    getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 + "/rtcast" : nil }
  }

  /// Makes the folder of sockets that have names, for this user alone, if this is one of them.
  func makeFolder() { if isNamed, let folder = Self.folder { mkdir(folder, 0o700) } }

  /// The sockets in the folder, sorted by name.
  static func all() -> [ControlPath] {
    guard let folder, let list = opendir(folder) else { return [] }
    defer { closedir(list) }
    var names: [String] = []
    while let entry = readdir(list) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasSuffix(suffix) { names.append(name) }
    }
    return names.sorted().map { ControlPath(found: "\(folder)/\($0)") }.filter { $0.socket.file != nil }
  }
}
