import FeatureKit
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCast
import Testing

@Suite(.timeLimit(.minutes(1))) struct SourceReplacementTests {
  private let first = HandCapturer()
  private let sent = SentFrames()

  /// A broadcast of `first`, recorded, whose key frame at the start is through.
  private func broadcast(
    _ source: MediaSource? = nil, _ change: (inout Broadcast.Options) -> Void = { _ in }
  ) async throws -> Broadcast {
    var options = Broadcast.Options()
    options.frameRate = 30
    change(&options)
    let broadcast = Broadcast(source ?? MediaSource(video: first), options: options, peers: try PeerLoop())
    broadcast.add(sent)
    try await broadcast.start()
    return broadcast
  }

  @Test(.feature("S1.24", "S3.37")) func `the first picture of a new source is a key frame and times go on`()
    async throws
  {
    let broadcast = try await broadcast()
    first.show(20, at: Timestamp(nanoseconds: 5_000_000_000))
    let second = HandCapturer()
    try await broadcast.replaceSource(MediaSource(video: second))
    // Its clock begins before the other's.
    second.show(200, at: Timestamp(nanoseconds: 1_000_000))
    let frames = sent.video
    #expect(frames.last?.isKeyFrame == true)
    #expect(
      zip(frames, frames.dropFirst()).allSatisfy { $0.captureTime < $1.captureTime && $0.number + 1 == $1.number })
    await broadcast.stop()
  }

  @Test func `a source that was replaced is stopped and not heard any more`() async throws {
    let broadcast = try await broadcast()
    first.show(20, at: .zero)
    let second = HandCapturer()
    try await broadcast.replaceSource(MediaSource(video: second))
    let count = sent.video.count
    first.show(99, at: Timestamp(nanoseconds: 1_000_000_000))
    first.end(.lost("gone"))
    #expect(sent.video.count == count)
    #expect(first.stops == 1 && second.stops == 0)
    second.show(30, at: Timestamp(nanoseconds: 2_000_000_000))
    #expect(sent.video.count == count + 1)
    await broadcast.stop()
    #expect(second.stops == 1)
  }

  @Test func `a source that cannot be started leaves the present one`() async throws {
    let broadcast = try await broadcast()
    let broken = HandCapturer(failure: .noSuchSource("There is no such thing."))
    await #expect(throws: CaptureError.noSuchSource("There is no such thing.")) {
      try await broadcast.replaceSource(MediaSource(video: broken))
    }
    first.show(20, at: .zero)
    #expect(!sent.video.isEmpty && first.stops == 0)
    await broadcast.stop()
  }

  @Test func `sound comes back when the new picture cannot be started`() async throws {
    let (old, new) = (HandSound(), HandSound())
    let broadcast = try await broadcast(MediaSource(video: first, audio: old))
    let broken = HandCapturer(failure: .noSuchSource("There is no such thing."))
    await #expect(throws: CaptureError.self) {
      try await broadcast.replaceSource(MediaSource(video: broken, audio: new))
    }
    new.play(at: .zero)
    #expect(sent.audio.isEmpty)
    old.play(at: .zero)
    #expect(!sent.audio.isEmpty)
    await broadcast.stop()
  }

  @Test func `a new source may have another size`() async throws {
    let broadcast = try await broadcast()
    first.show(20, at: .zero)
    let large = HandCapturer(size: PixelSize(width: 320, height: 178))
    try await broadcast.replaceSource(MediaSource(video: large))
    large.show(20, at: .zero)
    #expect(sent.video.last?.size == PixelSize(width: 320, height: 178))
    #expect(sent.video.last?.isKeyFrame == true)
    await broadcast.stop()
  }

  @Test(.feature("S4.24")) func `the hint follows the source unless it was chosen`() async throws {
    let broadcast = try await broadcast()
    let screen = HandCapturer(isScreencast: true)
    try await broadcast.replaceSource(MediaSource(video: screen))
    screen.show(20, at: .zero)
    #expect(sent.video.last?.contentHint == .detail)
    let camera = HandCapturer(isScreencast: false)
    try await broadcast.replaceSource(MediaSource(video: camera))
    camera.show(30, at: .zero + .seconds(1))
    #expect(sent.video.last?.contentHint == .motion)
    await broadcast.stop()
  }

  @Test func `a paused source is stopped and started again`() async throws {
    let broadcast = try await broadcast()
    first.show(20, at: .zero)
    broadcast.pause()
    #expect(first.stops == 1)
    let count = sent.video.count
    first.show(50, at: Timestamp(nanoseconds: 1_000_000_000))
    #expect(sent.video.count == count)
    try await broadcast.resume()
    first.show(60, at: Timestamp(nanoseconds: 2_000_000_000))
    #expect(first.starts.count == 2 && sent.video.count > count)
    await broadcast.stop()
  }

  @Test func `sound beside a paused file is held back too`() async throws {
    let (sound, playback) = (HandSound(), HandPlayback())
    let broadcast = try await broadcast(MediaSource(video: first, audio: sound, playback: playback))
    sound.play(at: .zero)
    let count = sent.audio.count
    #expect(count > 0 && !broadcast.isPaused)
    broadcast.pause()
    sound.play(at: Timestamp(nanoseconds: 100_000_000))
    #expect(sent.audio.count == count && broadcast.isPaused)
    try await broadcast.resume()
    sound.play(at: Timestamp(nanoseconds: 5_000_000_000))
    #expect(sent.audio.count > count && !broadcast.isPaused)
    #expect(playback.told == ["pause", "resume"] && first.starts.count == 1)
    // Another source in a pause ends it.
    broadcast.pause()
    let next = HandSound()
    try await broadcast.replaceSource(MediaSource(video: HandCapturer(), audio: next))
    let before = sent.audio.count
    next.play(at: Timestamp(nanoseconds: 9_000_000_000))
    #expect(sent.audio.count > before && !broadcast.isPaused)
    await broadcast.stop()
  }

  @Test func `another frame rate is asked of the source`() async throws {
    let broadcast = try await broadcast()
    try await broadcast.setFrameRate(12)
    #expect(first.starts.map(\.frameRates.upperBound) == [30, 12])
    first.show(60, at: .zero)
    #expect(!sent.video.isEmpty)
    await broadcast.stop()
  }

  @Test func `sound that ends leaves the picture`() async throws {
    let sound = HandSound()
    let broadcast = try await broadcast(MediaSource(video: first, audio: sound))
    sound.play(at: .zero)
    #expect(!sent.audio.isEmpty)
    sound.end(.lost("The sound server is gone."))
    first.show(20, at: .zero)
    first.end(.finished)
    var events: [String] = []
    for await event in broadcast.events {
      switch event {
      case .audioLost(let sentence): events.append(sentence)
      case .ended(.finished): events.append("ended")
      default: continue
      }
      if events.last == "ended" { break }
    }
    #expect(events == ["The sound server is gone.", "ended"])
    await broadcast.stop()
  }

  @Test func `a file ends when picture and sound have ended`() async throws {
    let sound = HandSound()
    let broadcast = try await broadcast(MediaSource(video: first, audio: sound, endsWithVideo: false))
    first.end(.finished)
    sound.play(at: .zero)
    #expect(!sent.audio.isEmpty)
    sound.end(.finished)
    for await event in broadcast.events {
      if case .ended(let reason) = event {
        #expect(reason == .finished)
        break
      }
    }
    await broadcast.stop()
  }

  @Test func `sound that cannot be started is a failure of the start`() async throws {
    let source = MediaSource(video: first, audio: HandSound(failure: .unavailable("No sound server answers.")))
    await #expect(throws: CaptureError.unavailable("No sound server answers.")) {
      _ = try await self.broadcast(source)
    }
    #expect(first.starts.isEmpty)
  }

  @Test func `sound goes on in place when the source is replaced`() async throws {
    let (one, two) = (HandSound(), HandSound())
    let broadcast = try await broadcast(MediaSource(video: first, audio: one))
    one.play(at: .zero)
    try await broadcast.replaceSource(MediaSource(video: HandCapturer(), audio: two))
    one.play(at: Timestamp(nanoseconds: 100_000_000))
    let count = sent.audio.count
    two.play(at: Timestamp(nanoseconds: 2_000_000_000))
    let audio = sent.audio
    #expect(audio.count > count)
    #expect(zip(audio, audio.dropFirst()).allSatisfy { $0.position + Int64($0.sampleCount) <= $1.position })
    #expect(abs(audio.last!.position - 2 * 48_000) < 9_600)
    await broadcast.stop()
  }
}
