import CLinux

/// What this program may use of the machine once it has confined itself.
package struct SandboxRules: Sendable {
  /// What may be done with a file, or with a folder and all in it.
  package enum Access: Sendable {
    case read
    /// Read, written and controlled, and nothing made: devices.
    case use
    /// Files in it are made, written, renamed and removed.
    case keep
    /// Sockets in it are made and removed.
    case makeSockets

    var kinds: UInt64 {
      let reading = clinux_landlock_read_file.rawValue | clinux_landlock_read_folder.rawValue
      let writing = clinux_landlock_write_file.rawValue | clinux_landlock_truncate.rawValue
      let kinds =
        switch self {
        case .read: reading
        case .use: reading | writing | clinux_landlock_control_device.rawValue
        case .keep:
          reading | writing | clinux_landlock_make_file.rawValue | clinux_landlock_remove_file.rawValue
        case .makeSockets: clinux_landlock_make_socket.rawValue | clinux_landlock_remove_file.rawValue
        }
      return UInt64(kinds)
    }
  }

  /// Files and folders; one that is not there is passed over.
  package private(set) var files: [(path: String, access: Access)] = []
  /// Whether sockets of this machine may be made (AF_UNIX): for displays, sound, and streams of other programs. A D-Bus is
  /// reached by the same.
  package var allowsLocalSockets = false

  package init() {}

  package mutating func allow(_ access: Access, _ path: String) { files.append((path, access)) }

  package mutating func allow(_ access: Access, _ paths: [String]) { for path in paths { allow(access, path) } }
}
