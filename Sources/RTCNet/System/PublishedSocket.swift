import CLinux
import Glibc
import RTCPrimitives

/// Puts a listening socket at a path, exactly one of several programs that try at the same time.
///
/// The socket listens under another name before it gets its own by `link`, which fails if the name is taken. So a socket at
/// the path that refuses connections belongs to a dead program, never to one that is just starting.
package struct PublishedSocket {
  /// The descriptor of the listening socket.
  package let listener: Int32
  /// The identity of the socket at the path. It was read under the other name: at the path, another program may look at
  /// the socket at that moment, and move it aside for that.
  package let file: UnixSocket.File?

  /// The number of attempts while other programs come and go at the path.
  private static let mostAttempts = 20

  /// Makes a socket that listens at the path, in place of the socket of a dead program.
  /// - Returns: the listening socket; nil when another program listens at the path.
  package static func listen(at socket: UnixSocket, backlog: Int32) throws(UnixSocketError) -> PublishedSocket? {
    if try isListening(at: socket) { return nil }
    let draft = UnixSocket(path: besides(socket.path, "new"))
    let listener: Int32
    do throws(UnixSocketError) { listener = try draft.listen(backlog: backlog) } catch {
      // The other name means nothing to a person.
      throw UnixSocketError(error.kind, error.sentence.replacing(draft.path, with: socket.path))
    }
    let published = PublishedSocket(listener: listener, file: draft.file)
    defer { draft.removeIfSocket() }
    // Between a look at a dead socket and its removal, another program must not put its own there. Without the turn
    // nothing at the path may be moved, not even for a look.
    let turn = Turn(at: socket.path)
    defer { turn.end() }
    do throws(UnixSocketError) {
      for _ in 0..<mostAttempts {
        if unsafe link(draft.path, socket.path) == 0 { return published }
        guard errno == EEXIST else { throw refusal(socket, errno) }
        if try isTaken(socket) {
          close(listener)
          return nil
        }
      }
    } catch {
      close(listener)
      throw error
    }
    close(listener)
    throw UnixSocketError(.unavailable, "The socket \(socket.path) cannot be made: other programs make and remove it.")
  }

  /// Whether a program listens at the path.
  private static func isListening(at socket: UnixSocket) throws(UnixSocketError) -> Bool {
    guard let other = try socket.connect() else { return false }
    close(other)
    return true
  }

  /// Whether a program listens at the path. The socket of a dead one is removed; only in turn.
  private static func isTaken(_ socket: UnixSocket) throws(UnixSocketError) -> Bool {
    let before = identity(of: socket.path)
    if try isListening(at: socket) { return true }
    guard let before else { return false }
    guard before.isSocket else {
      throw UnixSocketError(
        .unavailable,
        "The socket \(socket.path) cannot be made: there is a file at this path. Choose another path.")
    }
    // Another program may have replaced it meanwhile. What is moved can be looked at in peace.
    let aside = besides(socket.path, "old")
    guard unsafe rename(socket.path, aside) == 0 else { return false }
    if identity(of: aside) != before { _ = unsafe link(aside, socket.path) }
    unsafe unlink(aside)
    return false
  }

  /// The right to change the path, which one program has at a time: a name in the system's table of sockets without files,
  /// which goes with its program. A program that does not get it in time goes on without it.
  private struct Turn {
    /// Longer than a look at a live socket with a full queue, which the one before may have to wait for.
    private static let patience = TimeDelta.seconds(5)
    private let descriptor: Int32

    init(at path: String) {
      descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      guard descriptor >= 0, let name = Self.name(of: path) else { return }
      let end = MonotonicClock.now() + Self.patience
      while unsafe LocalAddress.with(name, { unsafe bind(descriptor, $0, $1) }) != 0, errno == EADDRINUSE,
        MonotonicClock.now() < end
      { usleep(500) }
    }

    func end() { if descriptor >= 0 { close(descriptor) } }

    /// The name for all spellings of a path: the folder counts by its device and number.
    private static func name(of path: String) -> String? {
      let slash = path.lastIndex(of: "/")
      let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
      let file = slash.map { path[path.index(after: $0)...] } ?? path[...]
      var status = stat()
      guard unsafe stat(folder, &status) == 0 else { return nil }
      // FNV-1a.
      let hash = file.utf8.reduce(14_695_981_039_346_656_037 as UInt64) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
      return "\0rtcast-path-\(status.st_dev)-\(status.st_ino)-\(String(hash, radix: 36))"
    }
  }

  private struct Identity: Equatable {
    let device: UInt64
    let number: UInt64
    /// A file system may give the number of a removed file to the next one.
    let made: [Int]
    let isSocket: Bool
  }

  private static func identity(of path: String) -> Identity? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return nil }
    let made = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
    return Identity(
      device: UInt64(status.st_dev), number: UInt64(status.st_ino), made: made,
      isSocket: status.st_mode & S_IFMT == S_IFSOCK)
  }

  /// A path in the same folder that nobody else uses.
  private static func besides(_ path: String, _ kind: String) -> String {
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    return "\(folder).\(kind)-" + String(UInt32.random(in: 0 ... .max), radix: 36)
  }

  private static func refusal(_ socket: UnixSocket, _ code: Int32) -> UnixSocketError {
    UnixSocketError(
      code == EACCES || code == EPERM ? .notPermitted : .unavailable,
      "The socket \(socket.path) cannot be made: \(unsafe String(cString: strerror(code))).")
  }
}
