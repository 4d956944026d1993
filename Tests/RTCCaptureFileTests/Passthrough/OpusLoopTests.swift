import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Testing

@Suite(.timeLimit(.minutes(2))) struct OpusLoopTests {
  private final class Listener: AudioConsumer, EncodedAudioConsumer, Sendable {
    let feed: AsyncStream<EncodedAudioFrame>.Continuation

    init(_ feed: AsyncStream<EncodedAudioFrame>.Continuation) { self.feed = feed }

    func audioCaptureDidStart(_ result: Result<AudioFormat, CaptureError>) {}
    func consume(_ frame: AudioFrame) {}
    func consume(_ frame: EncodedAudioFrame) { feed.yield(frame) }
    func audioCaptureDidEnd(_ reason: CaptureEnd) { feed.finish() }
  }

  /// Every pass holds a packet more than it lasts: counted all, sound would be 20 ms later with each.
  @Test(arguments: [
    ("loop.mp4", 1), ("loop.mkv", 1), ("loop.ogg", 1), ("loop.mkv", 0.943), ("loop.mkv", 0.6), ("loop.mp4", 0.943),
  ]) func `over many passes samples and capture times stay together`(_ name: String, pictures seconds: Double)
    async throws
  {
    let pictures = name.hasSuffix("ogg") ? "" : "-f lavfi -t \(seconds) -i \(Clip.pictures) -c:v libx264 -bf 0"
    let clip = try Clip(name, "-f lavfi -t 1 -i \(Clip.sine) \(pictures) -c:a libopus")
    var options = FilePlayer.Options()
    options.isLooped = true
    let player = try FilePlayer(
      path: clip.path, options: options, clock: .asFastAsConsumed(from: Playback.start), passthrough: .standard,
      hosts: Probe.hosts)
    let audio = try #require(player.source.audio as? any EncodedAudioSource)
    let (frames, feed) = AsyncStream.makeStream(of: EncodedAudioFrame.self)
    let listener = Listener(feed)
    player.pause()
    audio.startCapture(consumer: listener)
    audio.setPassthrough(to: listener)
    player.resume()
    var first: EncodedAudioFrame?
    var count = 0
    for await frame in frames {
      if first == nil { first = frame }
      let samples = TimeDelta.microseconds((frame.position - first!.position) * 1000 / 48)
      let apart = samples - (frame.captureTime - first!.captureTime)
      #expect(abs(apart.microseconds) <= 15_000, "\(name): \(apart) after \(count) packets")
      count += 1
      if count == 1000 { break }
    }
    audio.stopCapture()
    #expect(count == 1000)
  }
}
