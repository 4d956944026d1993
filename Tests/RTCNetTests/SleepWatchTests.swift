import RTCNet
import RTCPrimitives
import Testing

/// When the machine has slept.
@Suite struct SleepWatchTests {
  @Test func `the machine has slept when one clock has gone on and the other has not`() {
    let start = Timestamp(nanoseconds: 1_000_000_000)
    var watch = SleepWatch(monotonic: start, boot: start + .seconds(3_600))
    func slept(after awake: TimeDelta, asleep: TimeDelta) -> Bool {
      watch.hasSlept(monotonic: start + awake, boot: start + .seconds(3_600) + awake + asleep)
    }
    #expect(!slept(after: .seconds(100), asleep: .zero))
    #expect(!slept(after: .seconds(101), asleep: .milliseconds(1)))
    #expect(slept(after: .seconds(102), asleep: .seconds(30)))
    #expect(!slept(after: .seconds(103), asleep: .seconds(30)))
  }
}
