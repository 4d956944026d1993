import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct RestartScheduleTests {
  /// When it does what, in milliseconds, in a minute without an answer.
  private static func steps(
    _ role: CallRole, isOffering: (Int) -> Bool
  ) -> [(at: Int64, what: RestartSchedule.Step)] {
    var schedule = RestartSchedule(role: role)
    schedule.interrupted(now: .zero)
    var found: [(at: Int64, what: RestartSchedule.Step)] = []
    while let due = schedule.deadline, due <= Timestamp.zero + .seconds(60) {
      guard let step = schedule.step(isOffering: isOffering(found.count), now: due) else { break }
      found.append((at: (due - Timestamp.zero).milliseconds, what: step))
    }
    return found
  }

  @Test func `an offer that is not answered is said again with growing pauses`() {
    let steps = Self.steps(.caller) { _ in true }
    #expect(steps.map(\.at) == [3_000, 6_000, 12_000, 24_000, 36_000, 48_000, 60_000])
    #expect(steps.allSatisfy { $0.what == .repeatOffer })
  }

  @Test func `what was agreed and led nowhere is tried anew, by the callee a moment later`() {
    let steps = Self.steps(.callee) { _ in false }
    #expect(steps.map(\.at).prefix(3) == [4_000, 7_000, 13_000])
    #expect(steps.allSatisfy { $0.what == .restart })
  }

  @Test func `nothing is done before its time, while the call stands, and after it stands again`() {
    var schedule = RestartSchedule(role: .callee)
    #expect(schedule.deadline == nil && schedule.step(isOffering: false, now: .zero) == nil)
    schedule.signalingReturned(now: .zero)
    #expect(schedule.deadline == nil)
    schedule.interrupted(now: .zero)
    #expect(schedule.step(isOffering: false, now: Timestamp.zero + .milliseconds(3_999)) == nil)
    schedule.restored()
    #expect(schedule.deadline == nil && schedule.step(isOffering: false, now: Timestamp.zero + .seconds(5)) == nil)
  }

  @Test func `when the hub is back it does not wait`() {
    var schedule = RestartSchedule(role: .caller)
    schedule.interrupted(now: .zero)
    for _ in 0..<4 { if let due = schedule.deadline { _ = schedule.step(isOffering: true, now: due) } }
    let now = Timestamp.zero + .seconds(25)
    schedule.signalingReturned(now: now)
    #expect(schedule.step(isOffering: true, now: now) == .repeatOffer)
    let next = schedule.deadline
    // Told again of the same interruption.
    schedule.interrupted(now: now)
    #expect(schedule.deadline == next)
  }

  @Test func `other addresses restart a call that stands, until the restart is agreed`() {
    var schedule = RestartSchedule(role: .callee)
    schedule.networkChanged(now: .zero)
    var now = Timestamp.zero + .milliseconds(300)
    #expect(schedule.deadline == now)
    #expect(schedule.step(isOffering: false, now: now) == .restart)
    // What a restored way is told of does not end it: the offer may be lost.
    schedule.restored()
    now = now + .seconds(3)
    #expect(schedule.step(isOffering: true, now: now) == .repeatOffer)
    now = schedule.deadline ?? now
    #expect(schedule.step(isOffering: false, now: now) == nil && schedule.deadline == nil)
  }

  @Test func `a call that breaks by other addresses is restarted when they have settled`() {
    var schedule = RestartSchedule(role: .caller)
    schedule.networkChanged(now: .zero)
    schedule.interrupted(now: Timestamp.zero + .milliseconds(10))
    #expect(schedule.deadline == Timestamp.zero + .milliseconds(300))
    #expect(schedule.step(isOffering: false, now: Timestamp.zero + .milliseconds(300)) == .restart)
    #expect(schedule.deadline == Timestamp.zero + .milliseconds(3_300))
    schedule.restored()
    #expect(schedule.deadline == nil)
  }
}
