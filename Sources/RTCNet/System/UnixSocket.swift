import CLinux
import Glibc

/// A stream socket of this machine (AF_UNIX), by its path. The descriptors that it returns are the caller's to close.
package struct UnixSocket: Hashable, Sendable {
  /// Longer paths do not fit the system's address, in bytes.
  package static let longestPath = 107
  /// How long a program that listens may take to accept a connection while its queue is full, in seconds.
  private static let patience = 2

  package let path: String

  package init(path: String) { self.path = path }

  /// Connects to the program that listens at the path.
  /// - Returns: nil when nobody listens.
  package func connect() throws(UnixSocketError) -> Int32? {
    let socket = try open()
    // The limit of sending holds for connecting too.
    var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
    unsafe setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    guard unsafe LocalAddress.with(path, { unsafe Glibc.connect(socket, $0, $1) }) != 0 else { return socket }
    let reason = errno
    close(socket)
    switch reason {
    case ECONNREFUSED, ENOENT: break
    case EAGAIN:
      throw UnixSocketError(.unavailable, "The program that listens at \(path) does not accept connections.")
    default: throw refusal("connected to", reason)
    }
    return nil
  }

  /// Makes the path, for this user alone from its first moment, and listens there.
  /// - Parameter backlog: connections that may wait to be accepted.
  package func listen(backlog: Int32 = 1) throws(UnixSocketError) -> Int32 {
    let socket = try open()
    // The path gets the mode that the socket has when it is bound.
    fchmod(socket, 0o600)
    guard unsafe LocalAddress.with(path, { unsafe bind(socket, $0, $1) }) == 0 else {
      defer { close(socket) }
      throw refusal("made", errno)
    }
    guard Glibc.listen(socket, backlog) == 0 else {
      defer { close(socket) }
      throw refusal("listened at", errno)
    }
    return socket
  }

  /// Removes the path if it is a socket, and nothing else.
  package func removeIfSocket() { if file != nil { unsafe unlink(path) } }

  /// The file of the socket; nil when there is none, or another kind of file.
  package var file: File? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
    return File(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
  }

  /// The identity of a file, which differs between two files at the same path.
  package struct File: Hashable, Sendable {
    let device: UInt64
    let number: UInt64
  }

  /// The user of the process at the other end of a connected socket; nil when the system does not say.
  package static func peerUser(of descriptor: Int32) -> UInt32? {
    // struct ucred, which glibc shows to _GNU_SOURCE only.
    var credentials: (process: Int32, user: UInt32, group: UInt32) = (0, 0, 0)
    var length = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return nil }
    return credentials.user
  }

  private func open() throws(UnixSocketError) -> Int32 {
    guard (1...Self.longestPath).contains(path.utf8.count), !path.utf8.contains(0) else {
      throw UnixSocketError(
        .badPath, "A socket's path has 1 to \(Self.longestPath) bytes; '\(path)' has \(path.utf8.count).")
    }
    let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { throw refusal("made", errno) }
    return socket
  }

  private func refusal(_ deed: String, _ code: Int32) -> UnixSocketError {
    let reason = unsafe String(cString: strerror(code))
    return UnixSocketError(
      code == EACCES || code == EPERM ? .notPermitted : .unavailable,
      "The socket \(path) cannot be \(deed): \(reason).")
  }
}

/// Why there is no socket at a path, in a sentence.
package struct UnixSocketError: Error, Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// No socket can have such a path.
    case badPath
    case notPermitted
    case unavailable
  }

  package let kind: Kind
  package let sentence: String

  package init(_ kind: Kind, _ sentence: String) {
    self.kind = kind
    self.sentence = sentence
  }
}
