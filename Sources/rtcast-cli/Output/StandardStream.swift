import Glibc
import RTCNet
import Synchronization

/// Standard output or standard error, without blocking: output that its reader does not take at once is buffered up to
/// a limit, beyond which whole lines are left out. A reader that stops reading must not stop a cast. Any thread.
package final class StandardStream: Sendable {
  /// Standard output of this process.
  static let output = StandardStream(STDOUT_FILENO)
  static let error = StandardStream(STDERR_FILENO)

  /// A problem of a write, reported once.
  package enum Trouble: Equatable, Sendable {
    /// The reader is too slow and the buffer is full; lines are left out from here on.
    case behind
    /// The stream failed with this error number.
    case failed(Int32)

    /// A sentence, of standard output.
    var sentence: String {
      switch self {
      case .behind: "Standard output is not read fast enough; lines that do not fit are left out."
      case .failed(EPIPE): "The reader of standard output has closed it; nothing more is printed there."
      case .failed(let reason):
        "Standard output cannot be written to: \(String(cString: strerror(reason))). Nothing more is printed there."
      }
    }
  }

  private struct State {
    var backlog: [UInt8] = []
    var isDraining = false
    var isBehind = false
    var failure: Int32?
  }

  private let descriptor: Int32
  private let capacity: Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - descriptor: stays the caller's.
  ///   - capacity: bytes kept for a reader that is behind.
  package init(_ descriptor: Int32, capacity: Int = 1 << 20) {
    self.descriptor = descriptor
    self.capacity = capacity
  }

  /// The error number, once something could not be written.
  package var failure: Int32? { state.withLock(\.failure) }

  /// Writes a text as a whole, now or later, or leaves it out.
  /// - Returns: a problem to report; each once, and `behind` again after the reader had caught up.
  package func write(_ text: String) -> Trouble? {
    let bytes = Array(text.utf8)
    return state.withLock { state in
      guard state.failure == nil else { return nil }
      guard state.backlog.count + bytes.count <= capacity || state.backlog.isEmpty else {
        defer { state.isBehind = true }
        return state.isBehind ? nil : .behind
      }
      state.backlog += bytes
      if !state.isDraining { push(&state) }
      if let failure = state.failure { return .failed(failure) }
      if !state.backlog.isEmpty, !state.isDraining { startDraining(&state) }
      return nil
    }
  }

  /// Waits until all is written, but not for a reader that takes nothing for `milliseconds`.
  package func flush(milliseconds: Int32 = 1_000) {
    while !state.withLock({ $0.backlog.isEmpty }), isWritable(within: milliseconds) { state.withLock { push(&$0) } }
  }

  /// Writes the buffered text as fast as it is read. If no thread is available, it is written together with the next
  /// text.
  private func startDraining(_ state: inout State) {
    let thread = try? NamedThread(name: "rtc-output") { [self] in
      var isDone = false
      while !isDone, isWritable(within: -1) {
        isDone = self.state.withLock { state in
          push(&state)
          if state.backlog.isEmpty { state.isDraining = false }
          return state.backlog.isEmpty
        }
      }
    }
    state.isDraining = thread != nil
  }

  /// Writes as much as possible without waiting: a pipe with room has room for PIPE_BUF bytes.
  private func push(_ state: inout State) {
    var start = 0
    while start < state.backlog.count, isWritable(within: 0) {
      let part = state.backlog[start...].prefix(Int(PIPE_BUF))
      let count = part.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count > 0 else {
        state.failure = count < 0 ? errno : EIO
        state.backlog = []
        return
      }
      start += count
    }
    state.backlog.removeFirst(start)
    if state.backlog.isEmpty { state.isBehind = false }
  }

  /// Also true when a write would fail at once. Negative: waits for ever.
  private func isWritable(within milliseconds: Int32) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    while true {
      let count = poll(&request, 1, milliseconds)
      if count < 0, errno == EINTR { continue }
      return count != 0
    }
  }
}
