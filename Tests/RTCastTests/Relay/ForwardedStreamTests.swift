import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCTestKit
import RTCWire
import RTCast
import Testing

/// A stream from one peer to another through a relay: two pairs of peers on one virtual clock, the one's receiver being
/// the other's sender.
@Suite struct ForwardedStream {
  /// How much later than it came each kind of media is handed on: as if its way to the relay had been so much longer.
  struct Delays: CustomTestStringConvertible {
    var picture = TimeDelta.zero
    var sound = TimeDelta.zero
    var testDescription: String { "pictures \(picture.milliseconds) ms late, sound \(sound.milliseconds) ms" }
  }

  private final class Relay {
    let publishing: PeerPair
    let watching: PeerPair
    var forwarder = StreamForwarder()
    private let delays: Delays
    private var (frames, packets) = (0, 0)

    init(_ delays: Delays, codec: VideoCodec = .vp8) throws {
      self.delays = delays
      var options = PeerPair.Options()
      options.configure = { side, configuration in
        configuration.sendableVideo = [VideoPayloadFormat(codec: codec)]
        configuration.receivableVideo = [VideoPayloadFormat(codec: codec)]
        configuration.sendsVideo?.codecs = [VideoPayloadFormat(codec: codec)]
        if side == .offerer { configuration.sendsAudio = .init() } else { configuration.receivesAudio = true }
      }
      publishing = try PeerPair(options)
      watching = try PeerPair(options)
      try #require(publishing.connect() != nil && watching.connect() != nil)
    }

    /// Lets time pass for both pairs in steps of 5 ms, and hands on what has come.
    func run(for duration: TimeDelta) {
      let end = watching.now + duration
      while watching.now < end {
        publishing.run(for: .milliseconds(5))
        watching.run(for: .milliseconds(5))
        // The pairs connected at moments of their own.
        let now = publishing.now
        let lead = watching.now - publishing.now
        let came = publishing.receiver
        let clocks = came.peer.senderClocks
        while frames < came.frames.count, came.frames[frames].received + delays.picture <= now {
          var frame = came.frames[frames]
          frame.received = now + lead
          watching.send(forwarder.forward(frame, clock: clocks.video), from: .offerer)
          frames += 1
        }
        while packets < came.audio.count, came.audio[packets].received + delays.sound <= now {
          var packet = came.audio[packets]
          packet.received = now + lead
          if let frame = forwarder.forward(packet, clock: clocks.audio),
            let sound = watching.sender.first(.audio)
          {
            watching.step(.offerer, .audio(frame, sound))
          }
          packets += 1
        }
      }
    }
  }

  /// The wall-clock time of `timestamp` by what a report said, in seconds.
  private func wallTime(_ timestamp: RTPTimestamp, _ clock: SenderClock, rate: Double) -> Double {
    let ntp = Double(clock.ntpTime.value >> 32) + Double(clock.ntpTime.value & 0xFFFF_FFFF) / 4_294_967_296
    return ntp + Double(timestamp.distance(from: clock.rtpTime)) / rate
  }

  /// How much later than the picture of the same moment the viewer is told that a sound is from, in seconds.
  private func skew(_ viewer: PeerEnd, codec: VideoCodec = .vp8) throws -> Double {
    let clocks = viewer.peer.senderClocks
    let (video, audio) = (try #require(clocks.video), try #require(clocks.audio))
    let (frame, packet) = (try #require(viewer.frames.last), try #require(viewer.audio.last))
    let picture = try #require(SyntheticVideo.number(of: frame.data, isKeyFrame: frame.isKeyFrame, codec: codec))
    let sound = try #require(SyntheticAudio.number(of: packet.payload))
    let told = wallTime(packet.timestamp, audio, rate: 48_000) - wallTime(frame.timestamp, video, rate: 90_000)
    return told - (Double(sound) * 0.02 - Double(picture) * 0.04)
  }

  @Test(arguments: [
    Delays(), Delays(sound: .milliseconds(200)), Delays(picture: .milliseconds(200)),
    Delays(picture: .milliseconds(40), sound: .milliseconds(900)),
  ]) func `picture and sound stay together, whichever of them comes later to the relay`(_ delays: Delays) throws {
    let relay = try Relay(delays)
    let start = relay.publishing.now
    relay.publishing.sender.source = SyntheticVideo(interval: .milliseconds(40), from: start)
    relay.publishing.sender.audioSource = SyntheticAudio(firstPosition: 77_000, from: start)
    for _ in 0..<3 {
      relay.run(for: .seconds(4))
      #expect(abs(try skew(relay.watching.receiver)) < 0.002)
    }
    #expect(FrameChain(relay.watching.receiver.frames).isSound)
  }

  @Test(arguments: VideoCodec.allCases) func `every codec is handed on as it came`(_ codec: VideoCodec) throws {
    let relay = try Relay(Delays(), codec: codec)
    var source = SyntheticVideo(interval: .milliseconds(40), from: relay.publishing.now)
    source.codec = codec
    relay.publishing.sender.source = source
    relay.run(for: .seconds(2))
    let (came, seen) = (relay.publishing.receiver.frames, relay.watching.receiver.frames)
    #expect(seen.count > 40 && seen.map(\.data) == came.prefix(seen.count).map(\.data))
    #expect(seen.allSatisfy { $0.codec == codec } && seen.first?.isKeyFrame == true)
  }

  /// A packet whose sound begins at `position`.
  private func packet(_ number: Int, position: UInt32, at time: Timestamp) -> ReceivedAudio {
    ReceivedAudio(
      payload: SyntheticAudio.bytes(number: UInt64(number), count: 80), number: Int64(number),
      timestamp: RTPTimestamp(position), marker: false, received: time)
  }

  private func picture(_ timestamp: UInt32, at time: Timestamp) -> ReceivedFrame {
    ReceivedFrame(
      codec: .vp8, data: [1], isKeyFrame: true, timestamp: RTPTimestamp(timestamp), received: time)
  }

  @Test func `clocks that do not belong together, and none at all, leave sound where it came`() {
    let now = Timestamp.zero + .seconds(100)
    let clocks = [
      SenderClock(ntpTime: NTPTimestamp(0), rtpTime: RTPTimestamp(48_000)),
      SenderClock(ntpTime: NTPTimestamp(UInt64(90) << 32), rtpTime: RTPTimestamp(48_000)), nil,
    ]
    for clock in clocks {
      var forwarder = StreamForwarder()
      let video = SenderClock(ntpTime: NTPTimestamp(UInt64(50_000) << 32), rtpTime: RTPTimestamp(9_000))
      _ = forwarder.forward(picture(9_000, at: now), clock: video)
      let frame = forwarder.forward(packet(0, position: 48_000, at: now), clock: clock)
      #expect(frame?.captureTime == now && frame?.position == 48_000)
    }
  }

  @Test func `sound that is overtaken, and what is no Opus, is left out`() {
    let now = Timestamp.zero + .seconds(100)
    var forwarder = StreamForwarder()
    var broken = packet(2, position: 1_920, at: now)
    broken.payload = []
    let packets = [packet(1, position: 960, at: now), packet(0, position: 0, at: now), broken]
    let passed = (packets + [packet(3, position: 2_880, at: now)]).map { forwarder.forward($0, clock: nil)?.position }
    #expect(passed == [960, nil, nil, 2_880])
  }

  @Test func `capture times of pictures only ever rise, even when the far clock leaps back`() {
    let now = Timestamp.zero + .seconds(100)
    var forwarder = StreamForwarder()
    var last = Timestamp.zero
    for (timestamp, offset) in [(900_000, 0), (903_600, 40), (90_000, 80), (93_600, 120)] as [(UInt32, Int64)] {
      let frame = forwarder.forward(picture(timestamp, at: now + .milliseconds(offset)), clock: nil)
      #expect(frame.captureTime > last)
      last = frame.captureTime
    }
    #expect(last == now + .milliseconds(120))
  }
}
