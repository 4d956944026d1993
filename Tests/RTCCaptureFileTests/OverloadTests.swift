import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Synchronization
import Testing

/// Where decoding or its consumer is too slow for a file, pictures are left out and those shown are not ever later. Times
/// are virtual: what decoding takes is a number.
@Suite(.timeLimit(.minutes(2))) struct OverloadTests {
  private static func clip(keyFrameEach count: Int, seconds: Int = 12) throws -> Clip {
    try Clip(
      "slow.mkv",
      "-f lavfi -i testsrc=size=64x48:rate=25 -f lavfi -i \(Clip.sine) -t \(seconds) -c:v libx264 -bf 0 -g \(count) "
        + "-keyint_min \(count) -sc_threshold 0 -pix_fmt yuv420p -c:a pcm_s16le")
  }

  private struct Outcome {
    var record: Playback.Record
    var lateness: [TimeDelta]
    var dropped: Int
  }

  private func play(_ clip: Clip, _ costs: PlaybackCosts) async throws -> Outcome {
    let lateness = LatenessLog()
    let playback = try Playback(
      clip, keepsSums: false, clock: .asFastAsConsumed(from: Playback.start, costs: costs)
    ) { _, player in lateness.add(player.lateness) }
    let record = await playback.play()
    return Outcome(record: record, lateness: lateness.all, dropped: playback.player.droppedPictures)
  }

  private final class LatenessLog: Sendable {
    private let entries = Mutex<[TimeDelta]>([])
    var all: [TimeDelta] { entries.withLock { $0 } }
    func add(_ lateness: TimeDelta) { entries.withLock { $0.append(lateness) } }
  }

  private func expectEvenSound(_ record: Playback.Record) {
    for (sound, next) in zip(record.sounds, record.sounds.dropFirst()) {
      #expect(abs((next.time - sound.end).microseconds) <= 1_000, "sound has a gap at \(sound.end)")
    }
  }

  @Test func `a decoder that is too slow goes on at key frames`() async throws {
    // 40 ms of file take 60 ms: all of it would take 18 s.
    let outcome = try await play(Self.clip(keyFrameEach: 25), PlaybackCosts(decoding: .milliseconds(60)))
    #expect(outcome.lateness.max() ?? .zero <= .milliseconds(1_200), "\(String(describing: outcome.lateness.max()))")
    #expect(outcome.dropped > 40)
    #expect(outcome.record.pictures.count > 30)
    let last = try #require(outcome.record.pictures.last?.time)
    #expect(last > .seconds(10) && last < .seconds(12))
    #expect(outcome.record.videoEnd == .finished)
    expectEvenSound(outcome.record)
    for (picture, next) in zip(outcome.record.pictures, outcome.record.pictures.dropFirst()) {
      #expect(next.time > picture.time)
    }
  }

  @Test func `a decoder that is far too slow shows key frames`() async throws {
    let outcome = try await play(Self.clip(keyFrameEach: 25), PlaybackCosts(decoding: .milliseconds(400)))
    #expect(outcome.lateness.max() ?? .zero <= .milliseconds(1_900), "\(String(describing: outcome.lateness.max()))")
    #expect(outcome.record.pictures.count >= 6)
    #expect(outcome.record.videoEnd == .finished)
    expectEvenSound(outcome.record)
  }

  @Test func `a consumer that is too slow gets the pictures of now`() async throws {
    let outcome = try await play(Self.clip(keyFrameEach: 250), PlaybackCosts(consuming: .milliseconds(300)))
    // Each takes 300 ms: by then there is a newer one.
    #expect(outcome.lateness.dropFirst().max() ?? .zero <= .milliseconds(250))
    #expect((35...45).contains(outcome.record.pictures.count), "\(outcome.record.pictures.count)")
    #expect(outcome.dropped == 300 - outcome.record.pictures.count)
    expectEvenSound(outcome.record)
  }

  @Test func `where no key frame comes late pictures are shown`() async throws {
    let outcome = try await play(Self.clip(keyFrameEach: 10_000), PlaybackCosts(decoding: .milliseconds(60)))
    #expect(outcome.record.pictures.count > 30)
    #expect(outcome.record.videoEnd == .finished)
    expectEvenSound(outcome.record)
  }

  @Test func `a machine that keeps up leaves nothing out`() async throws {
    let outcome = try await play(
      Self.clip(keyFrameEach: 50), PlaybackCosts(decoding: .milliseconds(30), consuming: .milliseconds(5)))
    #expect(outcome.record.pictures.count == 300)
    #expect(outcome.dropped == 0)
    #expect(outcome.lateness.max() ?? .zero <= .milliseconds(100))
  }
}
