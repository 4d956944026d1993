import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Testing

/// A file plays for those who hold its player or one of its sources, and for nobody else. The time limits only end what
/// would never end.
@Suite(.timeLimit(.minutes(2))) struct OwnershipTests {
  /// Tells when the player has let go of it: then its thread is over.
  private final class Listener: VideoConsumer, AudioConsumer, Sendable {
    let started: AsyncStream<Void>.Continuation
    let gone: AsyncStream<Void>.Continuation

    init(started: AsyncStream<Void>.Continuation, gone: AsyncStream<Void>.Continuation) {
      self.started = started
      self.gone = gone
    }

    deinit { gone.yield() }

    func captureDidStart(_ result: Result<VideoFormat, CaptureError>) {}
    func consume(_ frame: VideoFrame) { started.yield() }
    func captureDidEnd(_ reason: CaptureEnd) {}
    func audioCaptureDidStart(_ result: Result<AudioFormat, CaptureError>) {}
    func consume(_ frame: AudioFrame) { started.yield() }
    func audioCaptureDidEnd(_ reason: CaptureEnd) {}
  }

  private let clip: Clip
  private let started = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  private let gone = AsyncStream.makeStream(of: Void.self)

  init() throws {
    clip = try Clip("both.mkv", "-f lavfi -i \(Clip.pictures) -f lavfi -i \(Clip.sine) -t 1 -c:v libx264 -c:a flac")
  }

  private func loop() throws -> FilePlayer {
    var options = FilePlayer.Options()
    options.isLooped = true
    return try FilePlayer(
      path: clip.path, options: options, clock: .asFastAsConsumed(from: Playback.start), passthrough: .none,
      hosts: Probe.hosts)
  }

  /// Whether it came; what never comes is ended by the time limit.
  private func comes(_ stream: AsyncStream<Void>) async -> Bool {
    var iterator = stream.makeAsyncIterator()
    return await iterator.next() != nil
  }

  private func startVideo(of source: MediaSource) {
    guard let video = source.video else { return }
    video.startCapture(
      format: video.supportedFormats[0],
      consumer: Listener(started: started.continuation, gone: gone.continuation))
  }

  @Test func `a player that nobody holds stops`() async throws {
    var player: FilePlayer? = try loop()
    startVideo(of: player!.source)
    player?.source.audio?.startCapture(
      consumer: Listener(started: started.continuation, gone: gone.continuation))
    #expect(await comes(started.stream))
    player = nil
    #expect(await comes(gone.stream))
    #expect(await comes(gone.stream))
  }

  @Test func `as long as one source is held it goes on`() async throws {
    var player: FilePlayer? = try loop()
    var video = player?.source.video
    startVideo(of: player!.source)
    player = nil
    for _ in 0..<50 { #expect(await comes(started.stream)) }
    #expect(video != nil)
    video = nil
    #expect(await comes(gone.stream))
  }

  @Test func `a paused player that nobody holds stops too`() async throws {
    var player: FilePlayer? = try loop()
    startVideo(of: player!.source)
    #expect(await comes(started.stream))
    player?.pause()
    player = nil
    #expect(await comes(gone.stream))
  }

  @Test func `after a stop that came at once another start plays`() async throws {
    let player = try loop()
    for _ in 0..<50 {
      startVideo(of: player.source)
      player.source.video?.stopCapture()
    }
    startVideo(of: player.source)
    #expect(await comes(started.stream))
    player.source.video?.stopCapture()
    #expect(player.playback == .idle)
  }
}
