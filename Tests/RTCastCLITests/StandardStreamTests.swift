import Glibc
import Testing

import rtcast_cli

@Suite struct StandardStreamTests {
  /// A pipe that holds 4 KiB, and the stream that writes into it.
  private struct Pipe {
    let reading: Int32
    let writing: Int32
    let stream: StandardStream

    init(capacity: Int) {
      var ends: [Int32] = [0, 0]
      #expect(pipe(&ends) == 0)
      (reading, writing) = (ends[0], ends[1])
      #expect(fcntl(writing, 1031, 4_096) == 4_096)  // F_SETPIPE_SZ
      stream = StandardStream(writing, capacity: capacity)
    }

    /// Blocks until there is something.
    func read() -> String {
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = Glibc.read(reading, &bytes, bytes.count)
      return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
  }

  private static let line = String(repeating: "x", count: 999) + "\n"

  @Test func `what its reader does not take is kept up to a bound and left out beyond, which is said once`() {
    signal(SIGPIPE, SIG_IGN)
    let pipe = Pipe(capacity: 3_000)
    var troubles: [StandardStream.Trouble] = []
    for _ in 0..<20 { if let trouble = pipe.stream.write(Self.line) { troubles.append(trouble) } }
    #expect(troubles == [.behind])
    // The other end stays open: what was kept is still being written to it, and its number is not for another pipe.
    close(pipe.reading)
  }

  @Test func `what was kept leaves as it is read, in order and whole`() {
    let pipe = Pipe(capacity: 1 << 20)
    for number in 0..<100 { #expect(pipe.stream.write("\(number) " + Self.line) == nil) }
    var text = ""
    while !text.contains("99 x") || !text.hasSuffix("\n") { text += pipe.read() }
    #expect(text.split(separator: "\n").map { Int($0.prefix { $0 != " " }) } == Array(0..<100))
    close(pipe.reading)
    close(pipe.writing)
  }

  @Test func `a reader that has gone is said once`() {
    signal(SIGPIPE, SIG_IGN)
    let pipe = Pipe(capacity: 1 << 20)
    close(pipe.reading)
    #expect(pipe.stream.write("a\n") == .failed(EPIPE) && pipe.stream.write("b\n") == nil)
    #expect(pipe.stream.failure == EPIPE)
    close(pipe.writing)
  }
}
