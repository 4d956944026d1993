import RTCPrimitives
import RTCVideoCoding
import Testing

@Suite struct BitBudgetTests {
  private let start = Timestamp.zero + .seconds(1)

  /// With all that can be saved at 2 Mbit/s.
  private func saved(waiting: TimeDelta) -> BitBudget {
    var budget = BitBudget(rate: .megabitsPerSecond(2))
    budget.refill(now: start)
    budget.drained = start + waiting
    budget.refill(now: start)
    return budget
  }

  @Test func `what waits unsent for long is taken off what is saved`() {
    let full = saved(waiting: .zero)
    #expect(full.credit == full.capacity)
    #expect(saved(waiting: .milliseconds(20)).credit == full.capacity)
    #expect(abs(saved(waiting: .milliseconds(58)).credit - full.capacity / 2) < full.capacity / 50)
    #expect(saved(waiting: .milliseconds(150)).credit < 0)
  }

  @Test func `it comes back while the queue drains`() {
    var budget = saved(waiting: .milliseconds(150))
    let before = budget.credit
    for step in 1...10 { budget.refill(now: start + .milliseconds(Int64(step) * 20)) }
    #expect(before < 0 && budget.credit > budget.capacity * 0.8)
  }
}
