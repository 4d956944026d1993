import CLinux

/// The parts of the machine that this program may use once it has confined itself.
package struct SandboxRules: Sendable {
  /// The kind of access to a file, or to a folder and all files in it.
  package enum Access: Sendable {
    case read
    /// Reading, writing and control of existing files, such as devices. None are created.
    case use
    /// Creating, writing, renaming and removing files in the folder.
    case keep
    /// Creating and removing sockets in the folder.
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

  /// The files and folders with their access; a missing one is skipped.
  package private(set) var files: [(path: String, access: Access)] = []
  /// Whether sockets of this machine (AF_UNIX) may be created: for displays, sound, and streams of other programs. A
  /// D-Bus uses them as well.
  package var allowsLocalSockets = false

  package init() {}

  package mutating func allow(_ access: Access, _ path: String) { files.append((path, access)) }

  package mutating func allow(_ access: Access, _ paths: [String]) { for path in paths { allow(access, path) } }
}
