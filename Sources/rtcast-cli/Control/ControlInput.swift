import Glibc
import RTCNet

/// Commands to a running cast from standard input, line by line.
package enum ControlInput {
  /// Lines that may be read and not yet answered: a writer that is faster than the cast is made to wait.
  private static let mostUnanswered = 64

  /// Reads commands from `descriptor` to its end, which is no reason to end the cast.
  ///
  /// A thread of its own reads them. It is never joined, so it keeps no process from ending, whatever it waits for.
  /// - Parameters:
  ///   - respond: takes each answer, by any thread.
  ///   - deliver: takes each request, in order, by that thread.
  ///   - end: called at the end of the input.
  package static func read(
    from descriptor: Int32 = STDIN_FILENO, respond: @escaping @Sendable (ControlReply) -> Void,
    deliver: @escaping @Sendable (ControlRequest) -> Void, end: @escaping @Sendable () -> Void = {}
  ) {
    do throws(SystemError) {
      _ = try NamedThread(name: "rtc-control") {
        read(descriptor, respond, deliver)
        end()
      }
    } catch {
      respond(ControlReply(.failure(ControlError("No commands can be taken: \(error.description)"))))
      end()
    }
  }

  private static func read(
    _ descriptor: Int32, _ respond: @escaping @Sendable (ControlReply) -> Void,
    _ deliver: (ControlRequest) -> Void
  ) {
    let unanswered = Monitor(0)
    let order = AnswerOrder()
    func pass(_ line: LineSplitter.Line) {
      unanswered.wait(until: nil) { count in count < mostUnanswered ? count += 1 : nil }
      deliver(
        ControlRequest(
          line,
          respond: order.respond { reply in
            respond(reply)
            unanswered.change { $0 -= 1 }
          }))
    }
    var splitter = LineSplitter(longestLine: ControlRequest.longestLine)
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
      for line in splitter.take(piece[..<count]) { pass(line) }
    }
    if let line = splitter.end() { pass(line) }
  }
}
