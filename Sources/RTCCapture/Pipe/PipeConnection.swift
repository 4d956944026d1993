import Glibc
import RTCMedia

/// The input of a stream.
public enum PipeInput: Hashable, Sendable {
  /// An open file descriptor, 0 for standard input. It is read, not closed; it need not be non-blocking.
  case descriptor(Int32)
  /// A Unix socket. If a program listens there, the stream is read from it; otherwise a socket is made there, for this
  /// user only, and the first program that connects may write. It is removed at the end of the capturer's run.
  case socket(path: String)
}

/// An open stream. Closes its descriptor if it opened it.
final class PipeConnection: Sendable {
  let descriptor: Int32
  private let isOurs: Bool

  init(descriptor: Int32, isOurs: Bool) {
    self.descriptor = descriptor
    self.isOurs = isOurs
  }

  deinit { if isOurs { close(descriptor) } }

  /// Bytes wait to be read right now. False where the system cannot say.
  var hasBytes: Bool {
    var count: Int32 = 0
    // FIONREAD writes one int.
    return unsafe ioctl(descriptor, UInt(FIONREAD), &count) == 0 && count > 0
  }

  /// A large pipe means fewer turns between writer and reader; one that holds many pictures would only make them older.
  func widen(for pictureBytes: Int) {
    let setPipeSize: Int32 = 1031  // F_SETPIPE_SZ, which glibc shows to _GNU_SOURCE only
    if pictureBytes >= 1 << 20 { _ = fcntl(descriptor, setPipeSize, Int32(1 << 20)) }
  }
}

/// A Unix socket by its path.
struct UnixSocket {
  let path: String

  /// Longer paths do not fit the system's address.
  static let longestPath = 107

  func open() throws(CaptureError) -> Int32 {
    guard (1...Self.longestPath).contains(path.utf8.count), !path.utf8.contains(0) else {
      throw .unsupportedFormat("A socket's path has 1 to \(Self.longestPath) bytes; '\(path)' has \(path.utf8.count).")
    }
    let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { throw refusal("made", errno) }
    return socket
  }

  /// 0 or the reason why not.
  func connect(_ socket: Int32) -> Int32 {
    unsafe withAddress { unsafe Glibc.connect(socket, $0, $1) } == 0 ? 0 : errno
  }

  /// Makes the path and waits for writers behind it.
  func listen(_ socket: Int32) throws(CaptureError) {
    // Before the path exists: the socket gets the mode, so no other user can connect even for a moment.
    fchmod(socket, 0o600)
    guard unsafe withAddress({ unsafe bind(socket, $0, $1) }) == 0 else { throw refusal("made", errno) }
    guard Glibc.listen(socket, 1) == 0 else { throw refusal("listened at", errno) }
  }

  /// Removes a socket, but no other file.
  func removeIfSocket() {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
    unsafe unlink(path)
  }

  func refusal(_ deed: String, _ code: Int32) -> CaptureError {
    let sentence = "The socket \(path) cannot be \(deed): \(SystemReason.text(code))."
    return code == EACCES || code == EPERM ? .notPermitted(sentence) : .unavailable(sentence)
  }

  private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    // A sockaddr_un may be passed as a sockaddr; `open` saw to it that the path fits with its closing zero.
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}

/// The system's own words for an error number.
enum SystemReason {
  static func text(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
}
