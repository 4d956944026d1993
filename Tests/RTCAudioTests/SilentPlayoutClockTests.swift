import RTCAudio
import RTCPrimitives
import Testing

@Suite struct SilentPlayoutClockTests {
  @Test func `what nobody hears passes as fast as time`() {
    var clock = SilentPlayoutClock()
    var now = Timestamp.zero
    var samples = clock.pass(until: now).samples
    for turn: Int64 in 1...500 {
      now += .milliseconds(turn % 27)
      let (passed, next) = clock.pass(until: now)
      samples += passed
      #expect(next > now && next <= now + .milliseconds(10))
    }
    #expect((0...479).contains((now - Timestamp.zero).milliseconds * 48 - Int64(samples)))
  }

  @Test func `a long standstill is not made up for, and playing in between does not count`() {
    var clock = SilentPlayoutClock()
    _ = clock.pass(until: Timestamp.zero)
    #expect(clock.pass(until: Timestamp.zero + TimeDelta.seconds(60)).samples == 24_000)
    #expect(clock.pass(until: Timestamp.zero + TimeDelta.seconds(60)).samples == 0)
    clock.stop()
    #expect(clock.pass(until: Timestamp.zero + TimeDelta.seconds(90)).samples == 0)
  }
}
