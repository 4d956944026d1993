import Glibc
import RTCCapture
import RTCMedia
import RTCTestKit
import Testing

/// A path for a socket, in a folder that goes away.
private final class SocketPath: Sendable {
  let folder: String
  var path: String { folder + "/stream" }

  init() {
    var name = Array("/tmp/rtcast-pipe-XXXXXX".utf8CString)
    folder = String(cString: mkdtemp(&name))
  }

  deinit {
    unlink(path)
    rmdir(folder)
  }

  func address<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }

  static func socket() -> Int32 { Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) }
  var exists: Bool { access(path, F_OK) == 0 }
}

/// Signals that the capturer says it waits for a writer.
private func listeningCapturer(_ socket: SocketPath) -> (PipeCapturer, AsyncStream<String>) {
  let (notices, feed) = AsyncStream<String>.makeStream()
  return (PipeCapturer(.socket(path: socket.path), onNotice: { feed.yield($0) }), notices)
}

@Suite(.timeLimit(.minutes(1))) struct PipeSocketTests {
  private static let stream = Y4MBytes.header() + Y4MBytes.frame(1) + Y4MBytes.frame(2)

  @Test func `where nobody listens, a socket for this user alone is made, and the first writer is let in`() async {
    let socket = SocketPath()
    let (capturer, notices) = listeningCapturer(socket)
    let collector = FrameCollector()
    capturer.startCapture(format: wanted(), consumer: collector)
    for await notice in notices {
      #expect(notice.contains(socket.path))
      break
    }
    var status = stat()
    stat(socket.path, &status)
    #expect(status.st_mode & 0o777 == 0o600)
    let writer = SocketPath.socket()
    #expect(socket.address { connect(writer, $0, $1) } == 0)
    StreamWriter.writeAll(Self.stream, to: writer)
    close(writer)
    #expect(await collector.frame()?.shade == 1)
    #expect(await collector.ended() == .finished)
    #expect(!socket.exists)
  }

  @Test func `where a program listens, the stream is fetched from it`() async {
    let socket = SocketPath()
    let door = SocketPath.socket()
    #expect(socket.address { bind(door, $0, $1) } == 0)
    #expect(listen(door, 1) == 0)
    let capturer = PipeCapturer(.socket(path: socket.path))
    let collector = FrameCollector()
    capturer.startCapture(format: wanted(), consumer: collector)
    // Fails instead of waiting for ever.
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(door, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let reader = accept(door, nil, nil)
    #expect(reader >= 0)
    StreamWriter.writeAll(Self.stream, to: reader)
    close(reader)
    close(door)
    #expect(await collector.frame()?.shade == 1)
    #expect(await collector.ended() == .finished)
  }

  @Test func `a socket that a dead program left is replaced`() async {
    let socket = SocketPath()
    let dead = SocketPath.socket()
    #expect(socket.address { bind(dead, $0, $1) } == 0)
    close(dead)
    let (capturer, notices) = listeningCapturer(socket)
    capturer.startCapture(format: wanted(), consumer: FrameCollector())
    for await _ in notices { break }
    capturer.stopCapture()
    #expect(!socket.exists)
  }

  @Test func `a file that is no socket is refused and stays`() async {
    let socket = SocketPath()
    close(open(socket.path, O_CREAT | O_WRONLY, 0o600))
    let collector = FrameCollector()
    PipeCapturer(.socket(path: socket.path)).startCapture(format: wanted(), consumer: collector)
    guard case .failure = await collector.started() else { Issue.record("not refused"); return }
    #expect(socket.exists)
  }

  @Test func `impossible paths are refused with a sentence`() async {
    for path in ["", "/no/such/folder/socket", "/tmp/" + String(repeating: "x", count: 200)] {
      let collector = FrameCollector()
      PipeCapturer(.socket(path: path)).startCapture(format: wanted(), consumer: collector)
      guard case .failure(let error) = await collector.started() else { Issue.record("not refused"); return }
      #expect(error.sentence.contains(path))
    }
  }
}
