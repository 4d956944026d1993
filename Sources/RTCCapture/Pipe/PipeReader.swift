import Glibc
import RTCMedia
import RTCNet
import RTCPrimitives

/// Reads a stream on the capturer's thread; a stop ends any wait at once.
struct PipeReader {
  let connection: PipeConnection
  let run: WorkerRun

  enum Halt: Error {
    /// The capturer was stopped.
    case stopped
    case endOfInput
    case failed(errno: Int32)
  }

  /// Reads until `buffer` is full from `start` on.
  /// - Returns: how much of it is filled, and why not all of it.
  func fill(_ buffer: UnsafeMutableRawBufferPointer, from start: Int) -> (filled: Int, halt: Halt?) {
    var filled = start
    while filled < buffer.count {
      do throws(Halt) {
        filled += try unsafe read(UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
      } catch {
        return (filled, error)
      }
    }
    return (filled, nil)
  }

  /// Waits for bytes; returns at the end of the input as well.
  func waitForBytes() throws(Halt) { try PipeReader.wait(for: connection.descriptor, run) }

  private func read(_ buffer: UnsafeMutableRawBufferPointer) throws(Halt) -> Int {
    while true {
      try waitForBytes()
      let count = unsafe Glibc.read(connection.descriptor, buffer.baseAddress, buffer.count)
      if count > 0 { return count }
      if count == 0 { throw .endOfInput }
      // A writer that breaks off a socket connection has nothing more to say, however it did that.
      if errno == ECONNRESET { throw .endOfInput }
      guard errno == EINTR || errno == EAGAIN else { throw .failed(errno: errno) }
    }
  }

  /// Waits until `descriptor` is readable or at its end.
  static func wait(for descriptor: Int32, _ run: WorkerRun) throws(Halt) {
    while true {
      if run.isStopped { throw .stopped }
      // Descriptors are asked rather than made non-blocking: standard input is shared with other programs.
      var polled = [
        pollfd(fd: run.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let count = unsafe poll(&polled, nfds_t(polled.count), -1)
      guard count > 0 else {
        if count < 0, errno != EINTR { throw .failed(errno: errno) }
        continue
      }
      if polled[0].revents != 0 {
        run.wait(until: .zero)  // takes the wake back
        continue
      }
      if polled[1].revents & Int16(POLLNVAL) != 0 { throw .failed(errno: EBADF) }
      return
    }
  }
}
