import RTCPrimitives
import Synchronization
import Testing
import rtcast_cli

@Suite struct AnswerOrderTests {
  @Test func `answers are passed in the order of the lines, whichever comes first`() {
    let passed = Mutex<[Int]>([])
    let order = AnswerOrder()
    let ways = (0..<4).map { number in order.respond { _ in passed.withLock { $0.append(number) } } }
    let reply = ControlReply(.failure(ControlError("no")))
    ways[2](reply)
    ways[1](reply)
    #expect(passed.withLock { $0 } == [])
    ways[0](reply)
    #expect(passed.withLock { $0 } == [0, 1, 2])
    ways[3](reply)
    #expect(passed.withLock { $0 } == [0, 1, 2, 3])
  }
}
