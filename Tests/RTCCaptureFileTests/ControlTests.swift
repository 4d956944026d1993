import FeatureKit
import ProcessKit
import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(2))) struct ControlTests {
  private static let coded = "-c:v libx264 -g 50 -bf 2 -pix_fmt yuv420p"

  @Test(arguments: ["seek.mp4", "seek.mkv", "seek.webm", "seek.ts", "seek.avi", "seek.y4m", "seek.mov"])
  func `seeking shows the picture of that place`(_ name: String) async throws {
    let coding =
      [
        "webm": "-c:v libvpx -deadline realtime -g 50", "y4m": "-pix_fmt yuv420p", "avi": "-c:v mpeg4 -g 50",
      ][String(name.split(separator: ".")[1])] ?? Self.coded
    let clip = try Clip(name, "-f lavfi -i \(Clip.pictures) -t 4 \(coding)")
    let expected = try clip.pictures()
    let playback = try Playback(clip)
    playback.startPaused()
    #expect(await playback.nextPicture()?.sum == expected[0].sum)
    for place in [2_990, 30, 1_510, 3_950, 0, 2_000] {
      await playback.player.seek(to: .milliseconds(Int64(place)))
      #expect(abs(playback.player.position.milliseconds - Int64(place)) <= 1)
      #expect(playback.player.playback == .paused)
      #expect(await playback.nextPicture()?.sum == expected[place / 40].sum, "\(name) at \(place)")
    }
    playback.player.resume()
    _ = playback.stop()
    #expect(playback.player.outstandingPictures == 0)
  }

  @Test func `after a seek picture and sound go on together and times never go back`() async throws {
    let clip = try Clip(
      "both.mp4",
      "-f lavfi -i \(Clip.pictures) -f lavfi -i aevalsrc=exprs=t/10:s=48000 -t 4 \(Self.coded) -c:a flac "
        + "-strict -2")
    let expected = try clip.pictures()
    let playback = try Playback(clip) { number, player in
      guard number == 20 else { return }
      player.pause()
      Task {
        await player.seek(by: .milliseconds(1_720))
        player.resume()
      }
    }
    let record = await playback.play()
    let sums = record.pictures.map(\.sum)
    #expect(sums.prefix(21) == expected.prefix(21).map(\.sum)[...])
    // 0.8 s and 1.72 s: the picture at 2.52 s is number 63.
    #expect(sums.dropFirst(21) == expected.dropFirst(63).map(\.sum)[...])
    for (picture, next) in zip(record.pictures, record.pictures.dropFirst()) { #expect(next.time > picture.time) }
    let after = try #require(record.sounds.first { $0.samples[0] > 0.25 })
    #expect(abs(Double(after.samples[0]) - 0.252) < 0.001)
    #expect(abs((after.time - record.pictures[21].time).milliseconds) <= 1)
  }

  @Test func `speed changes the times and not the pitch`() async throws {
    let clip = try Clip(
      "fast.mkv", "-f lavfi -i \(Clip.pictures) -f lavfi -i \(Clip.sine) -t 4 -c:v libx264 -c:a pcm_s16le")
    for speed in [0.5, 2.0, 3.0] {
      var options = FilePlayer.Options()
      options.speed = speed
      let record = await (try Playback(clip, options, keepsSums: false)).play()
      #expect(record.pictures.count == 100)
      #expect(abs(record.pictures[99].time.seconds - 3.96 / speed) < 0.001)
      let samples = record.samples()
      #expect(abs(Double(samples.count) / 48_000 - 4 / speed) < 0.15)
      let crossings = zip(samples, samples.dropFirst()).count { $0 < 0 && $1 >= 0 }
      #expect(abs(Double(crossings) / (Double(samples.count) / 48_000) - 440) < 9, "\(speed): \(crossings)")
      for (sound, next) in zip(record.sounds, record.sounds.dropFirst()) {
        #expect(abs((next.time - sound.end).milliseconds) <= 1)
      }
      let end = try #require(record.sounds.last?.end)
      #expect(abs(end.seconds - 4 / speed) < 0.15)
    }
  }

  @Test func `speed may change under way`() async throws {
    let clip = try Clip("change.mp4", "-f lavfi -i \(Clip.pictures) -t 4 \(Self.coded)")
    let playback = try Playback(clip) { number, player in if number == 50 { player.setSpeed(4) } }
    let record = await playback.play()
    #expect(abs(record.pictures[50].time.milliseconds - 2_000) <= 1)
    #expect(abs(record.pictures[90].time.milliseconds - 2_400) <= 1)
  }

  @Test func `a muted player delivers silence`() async throws {
    let clip = try Clip("tone.wav", "-f lavfi -i \(Clip.sine) -t 1")
    let playback = try Playback(clip)
    playback.player.setMuted(true)
    let record = await playback.play()
    #expect(record.samples().count == 48_000)
    #expect(record.samples().allSatisfy { $0 == 0 })
  }

  @Test func `a highest rate leaves pictures out evenly`() async throws {
    let clip = try Clip("rate.mp4", "-f lavfi -i \(Clip.pictures) -t 4 \(Self.coded)")
    var options = FilePlayer.Options()
    options.maximumFrameRate = 10
    let record = await (try Playback(clip, options)).play()
    #expect((39...41).contains(record.pictures.count))
    for (picture, next) in zip(record.pictures, record.pictures.dropFirst()) {
      #expect((80...120).contains((next.time - picture.time).milliseconds))
    }
  }

  @Test func `a stopped file begins again at its start`() async throws {
    let clip = try Clip("again.mp4", "-f lavfi -i \(Clip.pictures) -t 1 \(Self.coded)")
    let playback = try Playback(clip)
    let first = await playback.play()
    let second = await playback.play()
    #expect(second.pictures.count == 50)
    #expect(second.pictures.dropFirst(25).map(\.sum) == first.pictures.map(\.sum))
    for (picture, next) in zip(second.pictures, second.pictures.dropFirst()) { #expect(next.time > picture.time) }
  }

  @Test func `a second start is refused`() async throws {
    let clip = try Clip("twice.mp4", "-f lavfi -i \(Clip.pictures) -t 1 \(Self.coded)")
    let playback = try Playback(clip)
    playback.startPaused()
    _ = await playback.nextPicture()
    let other = try Playback(clip)
    let video = try #require(playback.player.source.video)
    video.startCapture(format: video.supportedFormats[0], consumer: other)
    #expect(other.stop().videoStart == .failure(.alreadyStarted))
    _ = playback.stop()
    _ = playback.stop()
  }

  @Test func `stopping from inside a callback is the last of them`() async throws {
    let clip = try Clip("stop.mp4", "-f lavfi -i \(Clip.pictures) -t 1 \(Self.coded)")
    let playback = try Playback(clip) { number, player in if number == 5 { player.source.video?.stopCapture() } }
    playback.startPaused()
    playback.player.resume()
    for _ in 0..<6 { _ = await playback.nextPicture() }
    let record = playback.stop()
    #expect(record.pictures.count == 6)
    #expect(record.videoEnd == nil)
  }

  @Test func `flash and beep come at the same time`() async throws {
    try await FlashAndBeep("flash.mp4", seconds: 20, coding: "-c:v libx264 -bf 3 -c:a aac").checkTogether()
  }

  @Test func `a cut by edit list begins where it says`() async throws {
    let clip = try Clip(
      "cut.mp4", "-f lavfi -i \(Clip.pictures) -f lavfi -i \(Clip.sine) -t 3 \(Self.coded) -c:a aac $DIR/whole.mp4",
      "-ss 0.5 -i $DIR/whole.mp4 -c copy")
    let expected = try clip.pictures()
    let playback = try Playback(clip)
    let record = await playback.play()
    #expect(record.pictures.map(\.sum) == expected.map(\.sum))
    #expect(record.pictures.allSatisfy { $0.time >= .zero })
    #expect(playback.player.duration.map { abs($0.milliseconds - 2_500) < 100 } == true)
  }

  @Test(.feature("S0.73")) func `on the real clock a file plays to its end, and its pictures have that clock's times`()
    async throws
  {
    let clip = try Clip(
      "real.mp4", "-f lavfi -i \(Clip.pictures) -f lavfi -i \(Clip.sine) -t 0.4 \(Self.coded) -c:a aac")
    let arrivals = Mutex<[Int64]>([])
    let playback = try Playback(clip, keepsSums: false, clock: .monotonic) { _, _ in
      arrivals.withLock { $0.append(monotonicNanoseconds()) }
    }
    let record = await playback.play()
    #expect(!record.pictures.isEmpty && !record.sounds.isEmpty)
    #expect(record.videoEnd == .finished && record.audioEnd == .finished)
    let ages = zip(arrivals.withLock { $0 }, record.pictures).map { arrival, picture in
      arrival - (Playback.start + picture.time).nanoseconds
    }
    // A busy machine may be late with some, hardly with all.
    let nearest = try #require(ages.min { abs($0) < abs($1) })
    #expect(abs(nearest) < 50_000_000, "\(ages)")
  }
}
