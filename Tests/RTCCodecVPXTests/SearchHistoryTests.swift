import RTCCodecVPX
import RTCPrimitives
import Testing

@Suite struct SearchHistoryTests {
  @Test func `each further vain search doubles the pause, up to 48 seconds`() {
    var history = SearchHistory()
    var now = Timestamp.zero
    #expect(history.mayTry(now))
    for seconds in [3, 6, 12, 24, 48, 48] as [Int64] {
      history.noteVain(now: now)
      #expect(history.isVain)
      #expect(!history.mayTry(now + .seconds(seconds) - .milliseconds(1)))
      now += .seconds(seconds)
      #expect(history.mayTry(now))
    }
  }

  @Test func `a search that finds something ends the pauses`() {
    var history = SearchHistory()
    history.noteVain(now: .zero)
    history.noteVain(now: .zero + .seconds(Int64(3)))
    history.reset()
    #expect(!history.isVain)
    history.noteVain(now: .zero + .seconds(Int64(4)))
    #expect(history.mayTry(.zero + .seconds(Int64(7))))
  }
}
