import Testing
import rtcast_cli

@Suite struct PlaybackTests {
  private func keys(_ bytes: [UInt8]) -> [PlaybackKey] {
    var reader = PlaybackKeyReader()
    return bytes.compactMap { reader.take($0) }
  }

  @Test func `keys are found among what a terminal sends`() {
    #expect(keys(Array(" mq".utf8)) == [.pause, .mute, .end])
    #expect(keys([0x1B, 0x5B, 0x43, 0x1B, 0x4F, 0x44]) == [.forward, .back])
  }

  @Test func `other sequences are not taken for keys`() {
    // Page up, shift-right (which seeks too), F5 and a lone escape before a key.
    #expect(keys([0x1B, 0x5B, 0x35, 0x7E]) == [])
    #expect(keys([0x1B, 0x5B, 0x31, 0x3B, 0x32, 0x43]) == [.forward])
    #expect(keys([0x1B, 0x5B, 0x31, 0x35, 0x7E, 0x6D]) == [.mute])
  }

  @Test func `the bar shows position and length`() {
    #expect(ProgressBar(position: 30, duration: 60).text(width: 10) == "▶ 0:30 ━━━━━───── 1:00")
    #expect(ProgressBar(position: 3_725, duration: nil, isPaused: true).text(width: 10) == "⏸ 1:02:05")
    #expect(ProgressBar(position: 99, duration: 60, isMuted: true).text(width: 4) == "▶ 1:39 ━━━━ 1:00 muted")
  }
}
