import RTCEngine
import RTCPrimitives
import RTCWire
import Testing

@Suite struct TransportSendHistoryTests {
  private func history(sent: Int) -> TransportSendHistory {
    var history = TransportSendHistory()
    for _ in 0..<sent { history.sent() }
    return history
  }

  private func arrived(_ history: TransportSendHistory, _ numbers: Range<Int>) -> [Int] {
    numbers.filter { history.hasArrived(TransportSequenceNumber(UInt16(truncatingIfNeeded: $0))) }
  }

  @Test func `a packet that came late after all has arrived`() {
    var history = history(sent: 20)
    #expect(history.report([0, 5], count: 0) == (6, 4))
    #expect(history.report([2, 6], count: 1) == (1, 0))
    #expect(arrived(history, 0..<20) == [0, 2, 5, 6])
  }

  @Test func `losses within a report count`() {
    var history = history(sent: 20)
    #expect(!history.hasFeedback)
    #expect(history.report([0, 1, 4, 5], count: 0) == (6, 2))
    #expect(history.hasFeedback)
    #expect(arrived(history, 0..<8) == [0, 1, 4, 5])
  }

  @Test func `losses between two reports in a row count`() {
    var history = history(sent: 20)
    _ = history.report([0, 1, 2], count: 255)
    #expect(history.report([6, 7], count: 0) == (5, 3))
    #expect(history.report([19], count: 1) == (12, 11))
    #expect(arrived(history, 0..<20) == [0, 1, 2, 6, 7, 19])
  }

  @Test func `a lost report is not taken for lost packets`() {
    var history = history(sent: 20)
    _ = history.report([0, 1, 2], count: 0)
    #expect(history.report([6, 7], count: 2) == (2, 0))
  }

  @Test func `sound is numbered but not counted`() {
    var history = TransportSendHistory()
    for number in 0..<20 { history.sent(isAudio: number % 2 == 1) }
    #expect(history.report([0, 1, 3, 5, 6], count: 0) == (4, 2))
    #expect(history.report([11], count: 1) == (2, 2))  // 8 and 10
    #expect(history.report([17, 18], count: 2) == (4, 3))
    #expect(arrived(history, 0..<20) == [0, 1, 3, 5, 6, 11, 17, 18])
  }

  @Test func `old news and lies do not count`() {
    var history = history(sent: 10)
    _ = history.report([0, 1, 2, 3], count: 0)
    #expect(history.report([1, 2], count: 1) == (0, 0))
    #expect(history.report([8, 9, 10, 11], count: 2) == (6, 4))
    #expect(history.report([30, 31], count: 3) == (0, 0))
    #expect(arrived(history, 0..<40) == [0, 1, 2, 3, 8, 9])
  }

  @Test func `numbers wrap and long silence heals`() {
    var history = history(sent: 65_530)
    _ = history.report([3], count: 0)  // the only one to come through for 65,000 packets
    #expect(history.report([65_528, 65_529], count: 9) == (2, 0))
    for _ in 0..<10 { history.sent() }
    #expect(history.report([65_530, 65_535, 65_536, 65_539], count: 10) == (10, 6))
    #expect(arrived(history, 65_520..<65_540) == [65_528, 65_529, 65_530, 65_535, 65_536, 65_539])
  }
}
