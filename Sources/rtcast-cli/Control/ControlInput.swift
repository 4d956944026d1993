import Glibc
import RTCNet

/// Commands to a running cast, line by line.
package enum ControlInput {
  /// The commands from `descriptor`, in order. The end of the input does not end the cast.
  ///
  /// A thread of its own reads them. It is never joined, so it does not keep the process from ending. If commands are
  /// not taken, it stops reading until there is room.
  package static func commands(
    from descriptor: Int32 = STDIN_FILENO
  ) -> AsyncStream<Result<ControlCommand, ControlError>> {
    let (commands, feed) = AsyncStream.makeStream(
      of: Result<ControlCommand, ControlError>.self, bufferingPolicy: .bufferingOldest(64))
    do throws(SystemError) {
      _ = try NamedThread(name: "rtc-control") { read(descriptor, into: feed) }
    } catch {
      feed.yield(.failure(ControlError("No commands can be taken: \(error.description)")))
      feed.finish()
    }
    return commands
  }

  /// In bytes.
  private static let longestLine = 64 * 1_024

  private typealias Feed = AsyncStream<Result<ControlCommand, ControlError>>.Continuation

  private static func read(_ descriptor: Int32, into feed: Feed) {
    var splitter = LineSplitter(longestLine: longestLine)
    var piece = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = Glibc.read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        // Another process made the shared descriptor non-blocking.
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&waiting, 1, -1)
        continue
      }
      guard count > 0 else { break }
      for line in splitter.take(piece[..<count]) {
        guard pass(line, to: feed) else { return }
      }
    }
    if let line = splitter.end() { _ = pass(line, to: feed) }
    feed.finish()
  }

  /// False if commands are not taken any more.
  private static func pass(_ line: LineSplitter.Line, to feed: Feed) -> Bool {
    let command = parse(line)
    while true {
      switch feed.yield(command) {
      case .enqueued: return true
      case .dropped: poll(nil, 0, 10)  // the buffer is full; the reader will come
      default: return false
      }
    }
  }

  private static func parse(_ line: LineSplitter.Line) -> Result<ControlCommand, ControlError> {
    guard let bytes = line.bytes else {
      return .failure(ControlError("A control line may have \(longestLine / 1_024) KiB; this one is longer."))
    }
    do throws(ControlError) { return .success(try ControlCommand(parsing: bytes)) } catch { return .failure(error) }
  }
}
