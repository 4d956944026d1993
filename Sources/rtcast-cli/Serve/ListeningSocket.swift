import Glibc
import RTCNet
import RTCSignaling

/// The Unix socket of `--listen unix:PATH`, by which a proxy on this machine connects.
struct ListeningSocket {
  /// The socket listens already; it belongs to the server from its start on.
  let descriptor: Int32
  private let socket: UnixSocket
  private let file: UnixSocket.File?

  private static let backlog: Int32 = 256

  /// Makes the socket. One that a dead program left at the path is replaced; another file is not.
  /// - Parameters:
  ///   - path: its path.
  ///   - mode: the permissions of the file: a client needs the right to write.
  init(at path: String, mode: mode_t) throws(CastFailure) {
    socket = UnixSocket(path: path)
    do throws(UnixSocketError) {
      guard let found = try PublishedSocket.listen(at: socket, backlog: Self.backlog) else {
        throw UnixSocketError(
          .unavailable, "Another program listens at \(path). Stop it, or choose another path with --listen unix:PATH.")
      }
      (descriptor, file) = (found.listener, found.file)
    } catch {
      throw CastFailure(error)
    }
    guard chmod(path, mode) == 0 else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      socket.removeIfSocket()
      throw CastFailure(.notPermitted, "The permissions of the socket \(path) cannot be set: \(reason).")
    }
  }

  /// Removes the path, unless another program has made a socket of its own there.
  func remove() { if let file, socket.file == file { socket.removeIfSocket() } }
}
