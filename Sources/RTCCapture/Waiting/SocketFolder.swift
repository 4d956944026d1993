package import Glibc
import RTCNet

/// A folder in which programs put their sockets, and in which a waiting capturer looks for one: X11's, or that of a user's session.
///
/// Used by one thread.
package final class SocketFolder: Sendable {
  package let path: String
  /// Reports new sockets in the folder; negative if the system has no room for it.
  private let notifier: Int32

  package init(_ path: String) {
    self.path = path
    notifier = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
  }

  deinit { if notifier >= 0 { close(notifier) } }

  /// The descriptor that can be read when the folder has changed, if the system has given one.
  package var descriptors: [Int32] { notifier >= 0 ? [notifier] : [] }

  /// Watches the folder, which may be made later, or again. One that is watched already stays so.
  package func watch() {
    if notifier >= 0 {
      _ = unsafe inotify_add_watch(notifier, path, UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR))
    }
  }

  /// Reads the reports.
  /// - Returns: whether there was one.
  package func takeChanges() -> Bool {
    guard notifier >= 0 else { return false }
    var hasChanged = false
    unsafe withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { room in
      while unsafe read(notifier, room.baseAddress, room.count) > 0 { hasChanged = true }
    }
    return hasChanged
  }

  /// The socket with this name; nil if it is not there.
  package func socket(_ name: String) -> Socket? {
    var status = stat()
    guard unsafe stat("\(path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
    return Socket(
      owner: status.st_uid, inode: status.st_ino, seconds: status.st_ctim.tv_sec, nanoseconds: status.st_ctim.tv_nsec)
  }

  /// A socket; another one at the same path is not equal.
  package struct Socket: Hashable, Sendable {
    package let owner: uid_t
    private let inode: ino_t
    private let seconds: Int
    private let nanoseconds: Int

    fileprivate init(owner: uid_t, inode: ino_t, seconds: Int, nanoseconds: Int) {
      (self.owner, self.inode, self.seconds, self.nanoseconds) = (owner, inode, seconds, nanoseconds)
    }
  }

  /// Whether a program accepts connections at the file, or, with `abstractly`, at the same name that is not a file.
  package func accepts(_ name: String, abstractly: Bool = false) -> Bool {
    (abstractly && Self.connects("\0\(path)/\(name)")) || Self.connects("\(path)/\(name)")
  }

  private static func connects(_ path: String) -> Bool {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let socket = Glibc.socket(AF_UNIX, kind, 0)
    guard socket >= 0 else { return false }
    defer { close(socket) }
    let status = unsafe LocalAddress.with(path) { unsafe connect(socket, $0, $1) }
    // A server with a full queue is there.
    return status == 0 || errno == EAGAIN
  }
}
