import Dispatch
import Glibc
import RTCMedia
import Testing
import rtcast_cli

@Suite(.timeLimit(.minutes(1))) struct ControlInputTests {
  @Test func `lines come whole however their bytes are cut`() {
    let bytes = Array("one\r\n\n  \ntwo\nthree".utf8)
    for piece in 1...bytes.count {
      var splitter = LineSplitter(longestLine: 5)
      var lines: [LineSplitter.Line] = []
      for start in stride(from: 0, to: bytes.count, by: piece) {
        lines += splitter.take(bytes[start..<min(start + piece, bytes.count)])
      }
      if let last = splitter.end() { lines.append(last) }
      #expect(lines.map(\.bytes) == ["one", "two", "three"].map { Array($0.utf8) })
      #expect(lines.map(\.number) == [1, 4, 5], "blank lines count")
      #expect(splitter.count == 5)
    }
  }

  @Test func `a line that is too long is told of once, and the next is read`() {
    var splitter = LineSplitter(longestLine: 64 * 1_024)
    var lines: [LineSplitter.Line] = []
    for _ in 0..<100 { lines += splitter.take([UInt8](repeating: 120, count: 10_000)) }
    lines += splitter.take("\nnext\n".utf8)
    #expect(lines.map(\.bytes) == [nil, Array("next".utf8)])
    #expect(lines.map(\.number) == [1, 2])
  }

  @Test func `commands come in order from a real pipe, and its end is theirs`() async {
    var ends: [Int32] = [-1, -1]
    #expect(pipe(&ends) == 0)
    let writing = ends[1]
    let (requests, feed) = AsyncStream.makeStream(of: ControlRequest.self)
    let (replies, answers) = AsyncStream.makeStream(of: ControlReply.self)
    ControlInput.read(
      from: ends[0], respond: { answers.yield($0) }, deliver: { feed.yield($0) }, end: { feed.finish() })
    DispatchQueue.global().async {
      for number in 1...200 {
        let line = Array("{\"command\": \"fps\", \"value\": \(number)}\n".utf8)
        _ = line.withUnsafeBytes { Glibc.write(writing, $0.baseAddress, $0.count) }
      }
      let rest = Array("nonsense\n{\"command\": \"pause\"}".utf8)
      _ = rest.withUnsafeBytes { Glibc.write(writing, $0.baseAddress, $0.count) }
      close(writing)
    }
    var got: [Result<ControlCommand, ControlError>] = []
    for await request in requests {
      got.append(request.command)
      request.answer(ControlReply(request.command))
    }
    answers.finish()
    close(ends[0])
    #expect(got.count == 202)
    #expect(got.prefix(200).enumerated().allSatisfy { $0.element == .success(.frameRate(Double($0.offset + 1))) })
    guard got.count == 202, case .failure = got[200] else { Issue.record("nonsense was taken"); return }
    #expect(got[201] == .success(.pause))
    var refused = 0
    for await reply in replies where reply.refusal != nil { refused += 1 }
    #expect(refused == 1)
  }

  @Test func `a writer that is faster than the cast is made to wait`() async {
    var ends: [Int32] = [-1, -1]
    #expect(pipe(&ends) == 0)
    let (requests, feed) = AsyncStream.makeStream(of: ControlRequest.self)
    let lines = Array(String(repeating: "{\"command\": \"pause\"}\n", count: 100).utf8)
    #expect(lines.withUnsafeBytes { Glibc.write(ends[1], $0.baseAddress, $0.count) } == lines.count)
    close(ends[1])
    ControlInput.read(from: ends[0], respond: { _ in }, deliver: { feed.yield($0) }, end: { feed.finish() })
    // No more than 64 have come before the first is answered, and all come when they are answered.
    var waiting: [ControlRequest] = []
    var count = 0
    for await request in requests {
      waiting.append(request)
      count += 1
      #expect(waiting.count <= 64)
      if waiting.count == 64 || count > 64 { waiting.removeFirst().answer(ControlReply(request.command)) }
    }
    #expect(count == 100)
    close(ends[0])
  }
}
