import Glibc
import RTCNet
import Synchronization
import Testing

@Suite struct BrokenPipeTests {
  /// Without, libraries that write to what has gone (xcb) end a process that does not ignore SIGPIPE.
  @Test func `writing to a pipe nobody reads fails on our threads and does not end the process`() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    let (reading, writing) = (ends[0], ends[1])
    close(reading)
    let errors = Mutex<[Int32]>([])
    let thread = try NamedThread(name: "writer") {
      var byte: UInt8 = 0
      for _ in 0..<3 {
        let error = unsafe write(writing, &byte, 1) == 1 ? 0 : errno
        errors.withLock { $0.append(error) }
      }
    }
    thread.join()
    close(writing)
    #expect(errors.withLock { $0 } == [EPIPE, EPIPE, EPIPE])
  }
}
