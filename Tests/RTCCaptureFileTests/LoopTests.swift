import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Testing

@Suite(.timeLimit(.minutes(2))) struct LoopTests {
  private static var looped: FilePlayer.Options {
    var options = FilePlayer.Options()
    options.isLooped = true
    return options
  }

  @Test(arguments: ["loop.mp4", "loop.webm", "loop.ts", "loop.y4m", "loop.avi"])
  func `the next pass begins one frame after the last`(_ name: String) async throws {
    let coding =
      name.hasSuffix("webm")
      ? "-c:v libvpx -deadline realtime" : name.hasSuffix("mp4") ? "-c:v libx264 -bf 2" : "-pix_fmt yuv420p"
    let clip = try Clip(name, "-f lavfi -i \(Clip.pictures) -t 1 \(coding)")
    let record = await (try Playback(clip, Self.looped, pictureLimit: 90)).play()
    #expect(record.pictures.count >= 90)
    for (number, picture) in record.pictures.prefix(90).enumerated() {
      #expect(abs(picture.time.microseconds - Int64(number) * 40_000) <= 1_000, "\(name): picture \(number)")
      #expect(picture.sum == record.pictures[number % 25].sum, "\(name): picture \(number)")
    }
  }

  @Test func `the longer stream says when the next pass begins`() async throws {
    let clip = try Clip(
      "longer.mkv",
      "-f lavfi -i \(Clip.pictures) -f lavfi -i \(Clip.sine) -c:v libx264 -c:a pcm_s16le "
        + "-filter:v trim=end=1 -filter:a atrim=end=1.5")
    let record = await (try Playback(clip, Self.looped, pictureLimit: 60)).play()
    #expect(abs(record.pictures[25].time.milliseconds - 1500) <= 1)
    #expect(abs(record.pictures[50].time.milliseconds - 3000) <= 2)
    for (sound, next) in zip(record.sounds, record.sounds.dropFirst()) {
      #expect(abs((next.time - sound.end).microseconds) <= 1_000, "sound has a gap at \(sound.end)")
    }
  }

  @Test func `sound shorter than its picture is bridged at each seam`() async throws {
    let clip = try Clip(
      "shorter.mkv",
      "-f lavfi -i \(Clip.pictures) -f lavfi -i \(Clip.sine) -c:v libx264 -c:a pcm_s16le "
        + "-filter:v trim=end=1 -filter:a atrim=end=0.985")
    let record = await (try Playback(clip, Self.looped, pictureLimit: 100)).play()
    for (sound, next) in zip(record.sounds, record.sounds.dropFirst()) {
      #expect(abs((next.time - sound.end).microseconds) <= 1_000, "sound has a gap at \(sound.end)")
    }
    let samples = record.samples()
    let jump = zip(samples, samples.dropFirst()).map { abs($0 - $1) }.max()
    // A tone of 440 Hz moves by 0.06 of its height from sample to sample.
    #expect(jump ?? 1 < 0.1)
  }

  @Test func `a loop leaves out no packet of sound before the first key frame`() async throws {
    let clip = try Clip(
      "opus.webm",
      "-f lavfi -i \(Clip.pictures) -f lavfi -i \(Clip.sine) -t 1 -c:v libvpx -deadline realtime -c:a libopus")
    let record = await (try Playback(clip, Self.looped, pictureLimit: 100)).play()
    var quiet = 0
    var longest = 0
    for sample in record.samples() {
      quiet = abs(sample) < 0.003 ? quiet + 1 : 0
      longest = max(longest, quiet)
    }
    // 14 ms, the encoder's delay at both ends; a packet more would be 34.
    #expect(longest < 48 * 20, "\(longest / 48) ms of silence at a seam")
  }

  @Test func `picture and sound stay together over many passes`() async throws {
    let clip = try Clip("both.mp4", "-f lavfi -i \(Clip.pictures) -f lavfi -i \(Clip.sine) -t 1 -c:v libx264 -c:a aac")
    let record = await (try Playback(clip, Self.looped, pictureLimit: 25 * 40, keepsSums: false)).play()
    let last = record.pictures[999].time
    // 40 passes, each as long as the longer stream.
    #expect((TimeDelta.milliseconds(39_900)...(.milliseconds(41_000))).contains(last))
    let sound = record.sounds.last!
    #expect(abs((sound.end - last).milliseconds) < 80)
  }

  @Test func `each pass is told`() async throws {
    let clip = try Clip("short.mp4", "-f lavfi -i \(Clip.pictures) -t 0.4 -c:v libx264")
    let playback = try Playback(clip, Self.looped, pictureLimit: 35)
    _ = await playback.play()
    var events = playback.player.events.makeAsyncIterator()
    var passes: [Int] = []
    while passes.count < 3, let event = await events.next() {
      if case .looped(let number) = event { passes.append(number) }
    }
    #expect(passes == [1, 2, 3])
  }

  @Test func `a loop goes back to the chosen start`() async throws {
    let clip = try Clip("start.mp4", "-f lavfi -i \(Clip.pictures) -t 2 -c:v libx264 -g 50 -bf 2 -pix_fmt yuv420p")
    let expected = try clip.pictures()
    var options = Self.looped
    options.start = .milliseconds(1200)
    let record = await (try Playback(clip, options, pictureLimit: 60)).play()
    for number in 0..<60 {
      #expect(record.pictures[number].sum == expected[30 + number % 20].sum, "picture \(number)")
      #expect(abs(record.pictures[number].time.microseconds - Int64(number) * 40_000) <= 1_000)
    }
  }
}
