import RTCEngine
import RTCPlayout
import RTCPrimitives
import RTCWire
import Testing

@Suite struct Lips {
  /// Runs a minute with the sound `audioLag` and the picture `videoLag` behind, and lets them follow at once.
  private func settle(audioLag: Int64, videoLag: Int64) -> (sync: LipSync, largestStep: TimeDelta, skew: TimeDelta) {
    var sync = LipSync()
    let wall = NTPTimestamp(sinceUnixEpoch: .seconds(1_800_000_000))
    sync.noteAudioReport(SenderClock(ntpTime: wall, rtpTime: RTPTimestamp(4_294_967_000)))
    sync.noteVideoReport(SenderClock(ntpTime: wall, rtpTime: RTPTimestamp(77)))
    var largestStep = TimeDelta.zero
    var delays = sync.delays
    for tick in 0..<600 {
      let sent = Int64(tick) * 100
      let heard = TimeDelta.milliseconds(sent + audioLag) + delays.audio
      let shown = TimeDelta.milliseconds(sent + videoLag) + delays.video
      sync.noteHeard(RTPTimestamp(4_294_967_000 &+ UInt32(sent * 48)), at: Timestamp.zero + heard)
      sync.noteShown(RTPTimestamp(77 &+ UInt32(sent * 90)), at: Timestamp.zero + shown)
      let next = sync.update(at: .zero + .milliseconds(sent))
      largestStep = max(largestStep, max(next.audio - delays.audio, next.video - delays.video))
      delays = next
    }
    return (sync, largestStep, .milliseconds(audioLag - videoLag) + delays.audio - delays.video)
  }

  @Test func `the picture waits for a slower sound`() {
    let (sync, step, skew) = settle(audioLag: 250, videoLag: 40)
    #expect(abs(skew.milliseconds) <= 12)
    #expect(sync.delays.audio < .milliseconds(10) && sync.delays.video > .milliseconds(190))
    #expect(step <= .milliseconds(20))
  }

  @Test func `the sound waits for a slower picture`() {
    let (sync, step, skew) = settle(audioLag: 30, videoLag: 400)
    #expect(abs(skew.milliseconds) <= 12)
    #expect(sync.delays.video < .milliseconds(10) && sync.delays.audio > .milliseconds(350))
    #expect(step <= .milliseconds(20))
  }

  @Test func `clocks that do not belong together change nothing`() {
    let (sync, _, _) = settle(audioLag: 9_000, videoLag: 0)
    #expect(sync.delays == LipSync.Delays())
    #expect(sync.skew == nil)
  }

  @Test func `without a report of each nothing is known`() {
    var sync = LipSync()
    sync.noteHeard(RTPTimestamp(1), at: .zero)
    sync.noteShown(RTPTimestamp(1), at: .zero + .seconds(1))
    let delays = sync.update(at: .zero + .seconds(1))
    #expect(delays == LipSync.Delays())
  }
}
