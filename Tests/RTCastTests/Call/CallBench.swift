import Logging
import RTCCapture
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO
import RTCast
import Synchronization
import Testing

/// A hub on loopback and peers on it, all in this process.
struct CallBench: Sendable {
  let server: SignalingServer
  fileprivate let planes = Planes()

  /// Each peer has one of its own, as programs have.
  fileprivate final class Planes: Sendable {
    private let loops = Mutex<[PeerLoop]>([])

    func open() throws -> PeerLoop {
      var options = PeerLoop.Options()
      options.includesLoopback = true
      let new = try PeerLoop(options)
      loops.withLock { $0.append(new) }
      return new
    }

    func stop() { for loop in loops.withLock({ $0 }) { loop.stop() } }
  }

  static func run(_ body: (CallBench) async throws -> Void) async throws {
    let configuration = SignalingServerConfiguration(gate: .open(), hub: HubConfiguration())
    let server = try await SignalingServer.start(
      configuration, sessions: StreamDirectory(), logger: Logger(label: "test"))
    let bench = CallBench(server: server)
    let result: Result<Void, any Error>
    do { result = .success(try await body(bench)) } catch { result = .failure(error) }
    await server.shutdown()
    bench.planes.stop()
    try result.get()
  }

  var hub: HubAddress { HubAddress("ws://127.0.0.1:\(server.address.port)/")! }

  /// A registered peer.
  /// - Parameter sharesLoop: whether its media plane is one that others may use too, and outlives it.
  func peer(
    _ name: String, _ device: any AudioDevice = SilentAudioDevice(), sharesLoop: Bool = true,
    _ change: (inout CallConfiguration) -> Void = { _ in }
  ) async throws -> BenchPeer {
    var configuration = CallConfiguration()
    configuration.captureSize = PixelSize(width: 320, height: 180)
    configuration.frameRate = 15
    change(&configuration)
    let calls = try CallManager.initialize(
      signalingServer: HubSignaling(hub, name: name), config: configuration, audioDevice: device,
      peers: sharesLoop ? try planes.open() : nil)
    #expect(try await calls.setupConnection() == name)
    return BenchPeer(calls)
  }
}

/// A peer and what happens to it.
struct BenchPeer {
  let calls: CallManager
  private var events: AsyncStream<CallEvent>.Iterator

  init(_ calls: CallManager) {
    self.calls = calls
    events = calls.events.makeAsyncIterator()
  }

  /// The first result of `pick` for the next events; fails if they end before.
  mutating func wait<Found>(_ pick: (CallEvent) -> Found?) async throws -> Found {
    while let event = await events.next() {
      if let found = pick(event) { return found }
    }
    throw EventsEnded()
  }

  struct EventsEnded: Error {}

  mutating func waitToRing() async throws -> PeerID {
    try await wait { if case .callChanged(.ringing(let party, .callee)) = $0 { party.peer } else { nil } }
  }

  mutating func waitForStart() async throws {
    try await wait { if case .callChanged(.connected) = $0 { () } else { nil } }
  }

  mutating func waitForEnd() async throws -> CallEnd {
    try await wait { if case .callChanged(.ended(_, let end)) = $0 { end } else { nil } }
  }

  mutating func waitForVideo() async throws -> RemoteVideoTrack {
    try await wait { if case .remoteVideoAdded(let track) = $0 { track } else { nil } }
  }

  /// Waits until a far video and all of these channels have come, in whatever order.
  mutating func waitForVideoAndChannels(_ labels: Set<String>) async throws {
    var (missing, hasVideo) = (labels, false)
    try await wait { event -> Void? in
      switch event {
      case .remoteVideoAdded: hasVideo = true
      case .dataChannel(let channel, _): missing.remove(channel.label)
      default: break
      }
      return hasVideo && missing.isEmpty ? () : nil
    }
  }

  mutating func waitForAudio() async throws -> RemoteAudioTrack {
    try await wait { if case .remoteAudioAdded(let track) = $0 { track } else { nil } }
  }

  func testPicture() -> MediaSource { MediaSource(video: SyntheticCapturer(pattern: .bars)) }
}

/// Pictures as they are shown.
final class Pictures: VideoSink {
  let frames: AsyncStream<VideoFrame>
  private let continuation: AsyncStream<VideoFrame>.Continuation

  init() { (frames, continuation) = AsyncStream.makeStream(of: VideoFrame.self, bufferingPolicy: .bufferingNewest(8)) }

  private let shown = Atomic(0)
  /// Pictures so far.
  var count: Int { shown.load(ordering: .relaxed) }

  func show(_ frame: VideoFrame) {
    shown.add(1, ordering: .relaxed)
    continuation.yield(frame)
  }
  func videoDidEnd() { continuation.finish() }

  /// The next that has something in it.
  func next() async -> VideoFrame? {
    for await frame in frames { return frame }
    return nil
  }
}

/// Sound as it is heard.
final class Sounds: AudioSink {
  let blocks: AsyncStream<AudioFrame>
  private let continuation: AsyncStream<AudioFrame>.Continuation

  init() {
    (blocks, continuation) = AsyncStream.makeStream(of: AudioFrame.self, bufferingPolicy: .bufferingNewest(512))
  }

  func hear(_ frame: AudioFrame) { continuation.yield(frame) }
  func audioDidEnd() { continuation.finish() }

  /// True as soon as a fifth of a second is silent; false after ten seconds that were not, or the end.
  func fallsSilent() async -> Bool {
    var (silent, heard) = (0, 0)
    for await block in blocks {
      silent = block.samples.allSatisfy { abs($0) < 0.01 } ? silent + 1 : 0
      heard += 1
      if silent == 20 { return true }
      if heard == 1_000 { return false }
    }
    return false
  }

  /// True as soon as half a second without silence has this pitch within two percent, by its zero crossings; false after
  /// ten seconds of sound without. A machine that is late makes the jitter buffer stretch and patch what is heard.
  func hears(_ pitch: Double) async -> Bool {
    var (samples, heard): ([Float], Int) = ([], 0)
    for await block in blocks {
      let left = stride(from: 0, to: block.samples.count, by: block.format.channels).map { block.samples[$0] }
      heard += left.count
      if left.allSatisfy({ abs($0) < 0.01 }) { samples = [] } else { samples += left }
      if heard > 480_000 { return false }
      guard samples.count >= 24_000 else { continue }
      let crossings = zip(samples, samples.dropFirst()).count { $0 < 0 && $1 >= 0 }
      let found = Double(crossings) * 48_000 / Double(samples.count)
      if abs(found - pitch) < pitch * 0.02 { return true }
      samples = []
    }
    return false
  }
}
