import RTCEngine
import RTCPrimitives
import Testing

@Suite struct TimerTableTests {
  private func at(_ n: Int64) -> Timestamp { .zero + .milliseconds(n) }

  @Test func `an empty table has no deadline`() {
    var timers = TimerTable()
    #expect(timers.next == nil)
    #expect(timers.popDue(at(1_000_000)) == nil)
  }

  @Test func `the earliest comes first and is cleared`() {
    var timers = TimerTable()
    for (index, timer) in PeerTimer.allCases.enumerated() { timers[timer] = at(Int64(100 - index)) }
    #expect(timers.next?.timer == PeerTimer.allCases.last)
    var order: [PeerTimer] = []
    while let timer = timers.popDue(at(100)) { order.append(timer) }
    #expect(order == PeerTimer.allCases.reversed())
    #expect(timers.next == nil)
  }

  @Test func `nothing is due before its time`() {
    var timers = TimerTable()
    timers[.report] = at(10)
    #expect(timers.popDue(at(9)) == nil)
    #expect(timers.popDue(at(10)) == .report)
  }

  @Test func `advancing never puts off`() {
    var timers = TimerTable()
    timers.advance(.feedback, to: at(50))
    timers.advance(.feedback, to: at(80))
    #expect(timers[.feedback] == at(50))
    timers.advance(.feedback, to: at(20))
    #expect(timers[.feedback] == at(20))
  }
}
