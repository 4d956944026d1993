import RTCNet
import RTCPrimitives
import Synchronization
import Testing

/// Asks for deadlines one after the other and notes when they were reported.
private final class Clockwork: LoopHandler {
  private let reached: Inbox<(due: Timestamp, at: Timestamp)>
  private let turns: Inbox<Timestamp>
  private var due: [Timestamp]
  var nextDeadline: Timestamp { due.first ?? .distantFuture }

  init(_ due: [Timestamp], _ reached: Inbox<(due: Timestamp, at: Timestamp)>, turns: Inbox<Timestamp>) {
    self.due = due
    self.reached = reached
    self.turns = turns
  }

  func datagram(_ bytes: inout MutableSpan<UInt8>, route: Route, now: Timestamp) {}
  func deadlineReached(now: Timestamp) { reached.append((due.removeFirst(), now)) }
  func endOfBatch(now: Timestamp) { turns.append(now) }
}

@Suite struct DeadlineTests {
  @Test func `deadlines come in order, none early, and cost one turn each`() throws {
    let loop = try EventLoop(port: UDPPort())
    let reached = Inbox<(due: Timestamp, at: Timestamp)>()
    let turns = Inbox<Timestamp>()
    let start = MonotonicClock.now()
    let due = [.milliseconds(5), .microseconds(5_300), .milliseconds(9), .milliseconds(40)].map { start + $0 }
    try loop.start { _ in Clockwork(due, reached, turns: turns) }
    let fired = reached.wait(for: 4)
    _ = turns.wait(for: 4)
    loop.stop()
    #expect(fired.map(\.due) == due)
    #expect(fired.allSatisfy { $0.at >= $0.due })
    #expect(fired.allSatisfy { $0.at - $0.due < .seconds(Int64(2)) })
    #expect(turns.all.count <= 6)  // four deadlines, the stop, and at most one interrupted wait
  }

  @Test func `a deadline already past is reported at once`() throws {
    let loop = try EventLoop(port: UDPPort())
    let reached = Inbox<(due: Timestamp, at: Timestamp)>()
    try loop.start { _ in Clockwork([.zero], reached, turns: Inbox()) }
    #expect(reached.wait(for: 1).count == 1)
    loop.stop()
  }

  @Test(arguments: [true, false]) func `a poller waits until its deadline and no less`(nanoseconds: Bool) throws {
    let poller = try Poller(nanoseconds: nanoseconds)
    for microseconds: Int64 in [300, 1_000, 2_700] {
      let deadline = MonotonicClock.now() + .microseconds(microseconds)
      #expect(poller.wait(until: deadline).isEmpty)
      #expect(MonotonicClock.now() >= deadline)
    }
  }

  @Test(arguments: [true, false]) func `a poller tells which event was raised`(nanoseconds: Bool) throws {
    let poller = try Poller(nanoseconds: nanoseconds)
    let events = [try WakeEvent(), try WakeEvent()]
    try poller.add(events[0].descriptor, token: 3)
    try poller.add(events[1].descriptor, token: 63)
    let thread = try NamedThread(name: "raiser") { events[1].signal() }
    let ready = poller.wait(until: .distantFuture)
    #expect(ready.contains(63) && !ready.contains(3))
    events[1].clear()
    #expect(poller.wait(until: .zero).isEmpty)
    events[0].signal()
    poller.remove(events[0].descriptor)
    #expect(poller.wait(until: .zero).isEmpty)
    thread.join()
    thread.join()
  }
}
