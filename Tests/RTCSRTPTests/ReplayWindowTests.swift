import RTCPrimitives
import RTCSRTP
import Testing

@Suite struct ReplayWindowTests {
  static func refusal(_ window: ReplayWindow, _ index: UInt64) -> SRTPError? {
    do throws(SRTPError) { try window.check(index) } catch { return error }
    return nil
  }

  @Test func `it says what a set of all indices says`() {
    for seed in 1...20 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      var window = ReplayWindow()
      var taken: Set<UInt64> = []
      var highest: UInt64 = 70_000
      for _ in 0..<3_000 {
        // Mostly near the highest, at times far ahead of it or behind.
        let reach: UInt64 = [3, 40, 1_100, 3_000][Int(random.next() % 16 / 5)]
        let index = highest - min(highest, reach) + random.next() % (2 * reach)
        let expected: SRTPError? =
          if let top = window.highest, index + 1_024 <= top { .tooOld } else if taken.contains(index) { .replayed } else
          { nil }
        #expect(Self.refusal(window, index) == expected, "seed \(seed), \(index) after \(highest)")
        guard expected == nil else { continue }
        window.take(index)
        taken.insert(index)
        highest = max(highest, index)
      }
    }
  }

  @Test func `it holds the last 1024 to the bit`() {
    var window = ReplayWindow()
    window.take(5_000)
    #expect(Self.refusal(window, 5_000) == .replayed)
    #expect(Self.refusal(window, 5_000 - 1_023) == nil)
    #expect(Self.refusal(window, 5_000 - 1_024) == .tooOld)
    // A step as long as the window forgets all of it.
    for step in [1_023, 1_024, 1_025, 4_096] as [UInt64] {
      var later = window
      later.take(5_000 + step)
      let seen = (0..<1_024 as Range<UInt64>).filter { Self.refusal(later, 5_000 + step - $0) == .replayed }
      #expect(seen == (step == 1_023 ? [0, 1_023] : [0]), "a step of \(step)")
    }
  }
}
