import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct RestartScheduleTests {
  /// When it does what, in milliseconds, in a minute without an answer.
  private static func steps(_ role: CallRole, isOffering: (Int) -> Bool) -> [(Int64, RestartSchedule.Step)] {
    var schedule = RestartSchedule(role: role)
    schedule.interrupted(now: .zero)
    var found: [(Int64, RestartSchedule.Step)] = []
    while let due = schedule.deadline, due <= Timestamp.zero + .seconds(60) {
      guard let step = schedule.step(isOffering: isOffering(found.count), now: due) else { break }
      found.append(((due - Timestamp.zero).milliseconds, step))
    }
    return found
  }

  @Test func `the caller restarts at once, and says its offer again with growing pauses`() {
    let steps = Self.steps(.caller) { $0 > 0 }
    #expect(steps.map(\.0) == [0, 3_000, 9_000, 21_000, 33_000, 45_000, 57_000])
    #expect(steps.map(\.1) == [.restart] + Array(repeating: .repeatOffer, count: 6))
  }

  @Test func `the callee leaves the first offer to the caller, and restarts when none comes`() {
    let steps = Self.steps(.callee) { _ in false }
    #expect(steps.map(\.0).prefix(3) == [1_000, 4_000, 10_000])
    #expect(steps.allSatisfy { $0.1 == .restart })
  }

  @Test func `nothing is done before its time, while the call stands, and after it stands again`() {
    var schedule = RestartSchedule(role: .callee)
    #expect(schedule.deadline == nil && schedule.step(isOffering: false, now: .zero) == nil)
    schedule.hurry(now: .zero)
    #expect(schedule.deadline == nil)
    schedule.interrupted(now: .zero)
    #expect(schedule.step(isOffering: false, now: Timestamp.zero + .milliseconds(999)) == nil)
    schedule.restored()
    #expect(schedule.deadline == nil && schedule.step(isOffering: false, now: Timestamp.zero + .seconds(5)) == nil)
  }

  @Test func `when network or hub are back, it does not wait`() {
    var schedule = RestartSchedule(role: .caller)
    schedule.interrupted(now: .zero)
    for _ in 0..<4 { if let due = schedule.deadline { _ = schedule.step(isOffering: true, now: due) } }
    let now = Timestamp.zero + .seconds(22)
    schedule.hurry(now: now)
    #expect(schedule.step(isOffering: true, now: now) == .repeatOffer)
    #expect(schedule.deadline == now + .seconds(3))
    // Told again of the same interruption.
    schedule.interrupted(now: now)
    #expect(schedule.deadline == now + .seconds(3))
  }
}
