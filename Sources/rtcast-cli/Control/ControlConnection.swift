import Glibc
import RTCNet

/// A client's connection to a control socket.
struct ControlConnection: ~Copyable {
  /// How long an answer may take, in seconds: a source may have to start.
  private static let patience = 60
  /// No answer is longer, in bytes.
  private static let longestAnswer = ControlClient.mostBacklog

  private let path: String
  private let descriptor: Int32
  private var received: [UInt8] = []

  /// Connects to the process that takes commands at a path.
  init(to place: ControlPath) throws(CastFailure) {
    path = place.path
    descriptor = try Self.connect(to: place)
    var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { Glibc.close(descriptor) }

  private static func connect(to place: ControlPath) throws(CastFailure) -> Int32 {
    let found: Int32?
    do throws(UnixSocketError) { found = try place.socket.connect() } catch {
      throw CastFailure(error)
    }
    guard let found else {
      throw CastFailure(
        .unavailable, "Nobody takes commands at \(place.path). Start a cast with --control unix:\(place.path).")
    }
    let user = UnixSocket.peerUser(of: found)
    guard user == geteuid() || user == 0 || geteuid() == 0 else {
      close(found)
      throw CastFailure(.notPermitted, "The program that takes commands at \(place.path) belongs to another user.")
    }
    return found
  }

  /// Sends a line, and waits for its answer.
  mutating func ask(_ line: String) throws(CastFailure) -> String {
    // A failure shows in what is received, which may be the reason.
    _ = send(Array((line + "\n").utf8))
    while true {
      if let end = received.firstIndex(of: 0x0A) {
        defer { received.removeSubrange(...end) }
        return String(decoding: received[..<end], as: UTF8.self)
      }
      guard received.count < Self.longestAnswer, try receive() else {
        throw CastFailure(.unavailable, "The program at \(path) ended before it answered.")
      }
    }
  }

  /// Waits until the other side has closed the connection.
  mutating func waitForEnd() throws(CastFailure) { while try receive() { received = [] } }

  private func send(_ bytes: [UInt8]) -> Bool {
    var start = 0
    while start < bytes.count {
      let count = bytes[start...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      start += count
    }
    return true
  }

  /// False at the end.
  private mutating func receive() throws(CastFailure) -> Bool {
    var piece = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = recv(descriptor, &piece, piece.count, 0)
      if count > 0 {
        received += piece[..<count]
        return true
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        throw CastFailure(.unavailable, "The program at \(path) does not answer within \(Self.patience) s.")
      }
      return false
    }
  }
}
