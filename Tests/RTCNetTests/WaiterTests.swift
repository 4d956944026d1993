import RTCNet
import RTCPrimitives
import Testing

@Suite(.timeLimit(.minutes(1))) struct WaiterTests {
  @Test func `a wait ends at its deadline and not before`() {
    let waiter = Waiter()
    let deadline = MonotonicClock.now() + .milliseconds(2)
    waiter.wait(until: deadline)
    #expect(MonotonicClock.now() >= deadline)
    waiter.wait(until: .zero)
  }

  @Test func `a ring before the wait ends it at once, and only that one`() {
    let waiter = Waiter()
    waiter.ring()
    waiter.ring()
    waiter.wait(until: nil)
    let deadline = MonotonicClock.now() + .milliseconds(2)
    waiter.wait(until: deadline)
    #expect(MonotonicClock.now() >= deadline)
  }

  @Test func `a ring ends the wait of another thread`() throws {
    let (waiter, done) = (Waiter(), Monitor(false))
    let thread = try NamedThread(name: "sleeper") {
      waiter.wait(until: nil)
      done.change { $0 = true }
    }
    waiter.ring(ifAsleepAfter: .zero)
    #expect(done.wait(until: nil) { $0 ? true : nil } == true)
    thread.join()
  }

  @Test func `a ring for a moment has a longer wait end then and not before`() throws {
    let (waiter, end) = (Waiter(), Monitor<Timestamp?>(nil))
    let thread = try NamedThread(name: "sleeper") {
      waiter.wait(until: MonotonicClock.now() + .seconds(50))
      end.change { $0 = MonotonicClock.now() }
    }
    // Until it sleeps a ring counts at once.
    while !waiter.isAsleep {}
    let moment = MonotonicClock.now() + .milliseconds(5)
    waiter.ring(ifAsleepAfter: moment)
    #expect(end.wait(until: nil) { $0 }! >= moment)
    thread.join()
  }
}
