import RTCEngine
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Sender reports tie both clocks to one wall clock: that is all a far side has to play sound and picture in step.
@Suite struct SenderClocks {
  /// The wall-clock time of `timestamp` by what a report said, nanoseconds since 1900.
  private func wallTime(_ timestamp: RTPTimestamp, _ clock: SenderClock, rate: Double) -> Double {
    let ntp = Double(clock.ntpTime.value >> 32) + Double(clock.ntpTime.value & 0xFFFF_FFFF) / 4_294_967_296
    return ntp + Double(timestamp.distance(from: clock.rtpTime)) / rate
  }

  @Test(arguments: [1.0, 1.000_2, 0.999_5]) func `a sound and a picture of the same moment are given the same time`(
    _ clockRatio: Double
  ) throws {
    var options = PeerPair.Options()
    options.configure = { side, configuration in
      if side == .offerer { configuration.sendsAudio = .init() } else { configuration.receivesAudio = true }
    }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    let start = pair.now
    pair.sender.source = SyntheticVideo(interval: .milliseconds(40), from: start)
    pair.sender.audioSource = SyntheticAudio(clockRatio: clockRatio, firstPosition: 77_000, from: start)
    for _ in 0..<6 {
      pair.run(for: .seconds(5))
      let clocks = pair.receiver.peer.senderClocks
      let (video, audio) = (try #require(clocks.video), try #require(clocks.audio))
      let frame = try #require(pair.receiver.frames.last)
      let packet = try #require(pair.receiver.audio.last)
      // When each was taken, from the numbers in them.
      let frameNumber = try #require(SyntheticVideo.number(of: frame.data, isKeyFrame: frame.isKeyFrame))
      let packetNumber = try #require(SyntheticAudio.number(of: packet.payload))
      let taken = Double(frameNumber) * 0.04
      let heard = Double(packetNumber) * 0.02 / clockRatio
      let offset = wallTime(frame.timestamp, video, rate: 90_000) - wallTime(packet.timestamp, audio, rate: 48_000)
      #expect(abs(offset - (taken - heard)) < 0.001)
    }
  }

  @Test func `sound that begins long after the picture is in step from its first report`() throws {
    var options = PeerPair.Options()
    options.configure = { side, configuration in
      if side == .offerer { configuration.sendsAudio = .init() } else { configuration.receivesAudio = true }
    }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(interval: .milliseconds(40), from: pair.now)
    pair.run(for: .seconds(10))
    #expect(pair.receiver.peer.senderClocks.audio == nil)
    let start = pair.now
    pair.sender.audioSource = SyntheticAudio(from: start)
    pair.run(for: .milliseconds(1_500))
    let clock = try #require(pair.receiver.peer.senderClocks.audio)
    let packet = try #require(pair.receiver.audio.first)
    let wall = wallTime(packet.timestamp, clock, rate: 48_000)
    let expected = start.nanoseconds + pair.options.wallClock.nanoseconds
    #expect(abs(wall - Double(expected) / 1e9 - 2_208_988_800) < 0.001)
  }
}

extension PeerPair.Options {
  /// The wall clock of the pair's peers.
  fileprivate var wallClock: TimeDelta { .seconds(1_700_000_000) }
}
