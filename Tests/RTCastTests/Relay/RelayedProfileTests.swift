import RTCCapture
import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCSignaling
import RTCast
import Synchronization
import Testing

/// H.264 of any profile is published and watched, by peers whose descriptions say which they take (RFC 6184 §8.1).
@Suite(.timeLimit(.minutes(1))) struct RelayedProfileTests {
  /// The published stream, and its viewers.
  private final class Bench: Sendable {
    let relay: StreamRelay
    private let events = AsyncStream.makeStream(of: StreamRelay.Event.self)
    /// Each peer has one of its own, as programs have.
    private let loops = Mutex<[PeerLoop]>([])
    private let publisher: PeerConnection

    /// Stands for an encoder: a key frame for each picture.
    private final class Source: VideoConsumer {
      /// The first three bytes of the sequence parameter set.
      let profile: Mutex<[UInt8]>
      let track: OutgoingVideoTrack
      private let number = Atomic<UInt64>(0)

      init(_ profile: [UInt8], _ track: OutgoingVideoTrack) {
        self.profile = Mutex(profile)
        self.track = track
      }

      func captureDidStart(_ result: Result<VideoFormat, CaptureError>) {}
      func captureDidEnd(_ reason: CaptureEnd) {}

      func consume(_ frame: VideoFrame) {
        let data: [UInt8] =
          [0, 0, 0, 1, 0x67] + profile.withLock { $0 } + [0x8C, 0, 0, 0, 1, 0x68, 0xCE, 0x3C, 0x81, 0, 0, 0, 1, 0x65]
          + [UInt8](repeating: 0x55, count: 200)
        track.send(
          EncodedFrame(
            codec: .h264, data: data, isKeyFrame: true, size: frame.size, captureTime: frame.captureTime,
            encodedTime: frame.captureTime, quantizer: 20, rotation: .none, contentHint: .motion,
            number: number.add(1, ordering: .relaxed).oldValue))
      }
    }
    private let capturer = SyntheticCapturer(pattern: .gradient)
    private let source: Source

    init(_ profile: [UInt8]) throws {
      let (ours, relays) = (try Self.makeLoop(), try Self.makeLoop())
      loops.withLock { $0 = [ours, relays] }
      let report = events.continuation
      let track = ours.makeVideoTrack {}
      source = Source(profile, track)
      var configuration = PeerConnection.Configuration(video: track)
      configuration.videoFormats = [Self.format(profile)]
      publisher = PeerConnection(on: ours, configuration: configuration)
      relay = StreamRelay(into: StreamDirectory(), makePeers: { relays }, report: { report.yield($0) })
      let size = PixelSize(width: 64, height: 64)
      capturer.startCapture(
        format: VideoFormat(size: size, frameRates: 0...20, pixelFormat: .bgra), consumer: source)
    }

    private static func makeLoop() throws -> PeerLoop {
      var options = PeerLoop.Options()
      options.includesLoopback = true
      return try PeerLoop(options)
    }

    static func format(_ profile: [UInt8]) -> VideoPayloadFormat {
      let digits = profile.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
      return VideoPayloadFormat(codec: .h264, parameters: "profile-level-id=\(digits)")
    }

    /// Returns when the relay knows what comes.
    func publish() async throws {
      let session = try await relay.open(
        stream: "main", offer: try await publisher.createOffer(), remote: "127.0.0.1")
      try await publisher.accept(answer: session.answer)
      for await case .published in events.stream { break }
      // Takes whatever comes.
      let first = try await viewer([[0x64, 0, 0x1F], [0x42, 0, 0x1F], [0x42, 0xE0, 0x1F], [0x4D, 0, 0x1F]])
      #expect(await picture(of: first) != nil)
    }

    /// Somebody who takes pictures of these profiles, connected or refused.
    func viewer(_ profiles: [[UInt8]]) async throws -> PeerConnection {
      var configuration = PeerConnection.Configuration()
      configuration.receivesVideo = true
      configuration.receivableFormats = profiles.map(Self.format)
      let loop = try Self.makeLoop()
      loops.withLock { $0.append(loop) }
      let viewer = PeerConnection(on: loop, configuration: configuration)
      let door = relay.directory
      let session = try await door.open(
        stream: "main", offer: try await viewer.createOffer(), remote: "127.0.0.1")
      try await viewer.accept(answer: session.answer)
      return viewer
    }

    /// The first that `viewer` gets.
    func picture(of viewer: PeerConnection) async -> ReceivedFrame? {
      for await case .trackAdded(.video(let track)) in viewer.events {
        let (frames, came) = AsyncStream.makeStream(of: ReceivedFrame.self)
        track.setReceiver { came.yield($0) }
        for await frame in frames { return frame }
      }
      return nil
    }

    /// The publisher's encoder goes over to another profile.
    func change(to profile: [UInt8]) { source.profile.withLock { $0 = profile } }

    func nextEvent() async -> StreamRelay.Event? {
      for await event in events.stream { return event }
      return nil
    }

    func end() async {
      capturer.stopCapture()
      await publisher.close()
      await relay.stop()
      for loop in loops.withLock({ $0 }) { loop.stop() }
    }
  }

  @Test(
    arguments: [
      ([0x64, 0, 0x28], [0x64, 0, 0x1F]), ([0x64, 0x0C, 0x28], [0x64, 0x0C, 0x1F]),
      ([0x4D, 0, 0x28], [0x4D, 0, 0x1F]),
      ([0x42, 0xC0, 0x1E], [0x4D, 0, 0x1F]), ([0x4D, 0x40, 0x29], [0x64, 0, 0x1F]),
      ([0x42, 0, 0x28], [0x42, 0xE0, 0x1F]), ([0x64, 0, 0x33], [0xF4, 0, 0x1F]),
      ([0x64, 0, 0x28], [0x64, 0x0C, 0x1F]),
    ] as [([UInt8], [UInt8])])
  func `a viewer that takes the profile, or one that contains it, is shown the stream, whatever level it names`(
    stream: [UInt8], viewer: [UInt8]
  ) async throws {
    let bench = try Bench(stream)
    try await bench.publish()
    let picture = await bench.picture(of: try await bench.viewer([viewer]))
    #expect(picture?.codec == .h264 && picture.map { Array($0.data[5..<8]) } == stream)
    await bench.end()
  }

  @Test(
    arguments: [
      ([0x64, 0, 0x28], [0x42, 0xE0, 0x1F], "H264 of profile High (profile-level-id=640028)"),
      ([0x4D, 0, 0x28], [0x42, 0xE0, 0x1F], "H264 of profile Main (profile-level-id=4d0028)"),
    ] as [([UInt8], [UInt8], String)]) func `a viewer that cannot decode the profile is told which it is`(
      stream: [UInt8], viewer: [UInt8], words: String
    ) async throws
  {
    let bench = try Bench(stream)
    try await bench.publish()
    await #expect(throws: WHEPRefusal.noCommonCodec(offered: words)) { _ = try await bench.viewer([viewer]) }
    await bench.end()
  }

  @Test func `when the profile changes under a viewer that cannot follow, that is told`() async throws {
    let bench = try Bench([0x42, 0xE0, 0x1F])
    try await bench.publish()
    let low = try await bench.viewer([[0x42, 0xE0, 0x1F]])
    #expect(await bench.picture(of: low) != nil)
    bench.change(to: [0x4D, 0, 0x1F])
    #expect(
      await bench.nextEvent()
        == .undecodable("main", viewers: 1, format: "H264 of profile Main (profile-level-id=4d001f)"))
    await bench.end()
  }
}
