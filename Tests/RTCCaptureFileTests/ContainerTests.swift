import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Testing

/// Every kind of file gives the pictures and times that the ffmpeg program makes of it.
@Suite(.timeLimit(.minutes(2))) struct ContainerTests {
  private static let both = "-f lavfi -i \(Clip.pictures) -f lavfi -i \(Clip.sine) -t 2"

  static let clips: [(name: String, arguments: String)] = [
    ("h264.mp4", "\(both) -c:v libx264 -bf 3 -g 25 -pix_fmt yuv420p -c:a aac"),
    ("fragmented.mp4", "\(both) -c:v libx264 -bf 2 -pix_fmt yuv420p -c:a aac -movflags frag_keyframe+empty_moov"),
    ("vp9.webm", "\(both) -pix_fmt yuv420p -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -c:a libopus"),
    ("vp8.mkv", "\(both) -c:v libvpx -deadline realtime -cpu-used 8 -c:a flac"),
    ("h264.ts", "\(both) -c:v libx264 -bf 2 -g 20 -pix_fmt yuv420p -c:a aac"),
    ("mpeg4.avi", "\(both) -c:v mpeg4 -c:a mp3"),
    ("mpeg4.mov", "\(both) -c:v mpeg4 -c:a pcm_s16le"),
    ("raw.y4m", "-f lavfi -i \(Clip.pictures) -t 1 -pix_fmt yuv420p"),
    ("vp8.ivf", "-f lavfi -i \(Clip.pictures) -t 1 -c:v libvpx -deadline realtime -cpu-used 8"),
    ("odd.mkv", "-f lavfi -i testsrc=size=161x99:rate=25 -t 1 -c:v libvpx -deadline realtime -cpu-used 8"),
    ("late.mkv", "-f lavfi -i \(Clip.pictures) -t 1 -c:v libx264 -bf 2 -pix_fmt yuv420p -output_ts_offset 7.5"),
    (
      "gaps.mkv",
      "-f lavfi -i \(Clip.pictures) -t 4 -vf 'select=not(between(n\\,20\\,70))*mod(n\\,3)' -fps_mode vfr "
        + "-c:v libx264 -bf 2 -pix_fmt yuv420p"
    ),
  ]

  @Test(arguments: clips.indices) func `pictures and times are those of the file`(_ index: Int) async throws {
    let (name, arguments) = Self.clips[index]
    let clip = try Clip(name, arguments)
    let expected = try clip.pictures()
    let playback = try Playback(clip)
    let record = await playback.play()
    #expect(record.pictures.count == expected.count, "\(name)")
    // The program counts from the first picture, the player from whichever stream begins first.
    let start = (record.pictures.first?.time ?? .zero) - (expected.first?.time ?? .zero)
    #expect((.zero...(.milliseconds(50))).contains(start), "\(name) begins \(start.milliseconds) ms late")
    let differing = zip(record.pictures, expected).enumerated().first { _, pair in
      pair.0.sum != pair.1.sum || abs((pair.0.time - start - pair.1.time).microseconds) > 1_001
    }
    #expect(
      differing == nil, "\(name) at \(differing.map { ($0.offset, $0.element.0.time - start, $0.element.1) } as Any)")
    #expect(record.pictures.allSatisfy { $0.format == .i420 })
    #expect(record.videoEnd == .finished)
    #expect(playback.player.convertedPictures == 0, "\(name) was copied")
    #expect(playback.player.droppedPictures == 0)
    #expect(playback.player.outstandingPictures == 0, "\(name) leaks pictures")
    if playback.player.source.audio != nil {
      let samples = record.sounds.reduce(0) { $0 + $1.samples.count / $1.format.channels }
      #expect(abs(try clip.sampleCount(channels: 1) - samples) <= 48, "\(name)")
      #expect(record.audioEnd == .finished)
    }
  }

  @Test(arguments: ["tone.mp3", "tone.flac", "tone.wav", "tone.ogg", "tone.m4a"])
  func `sound alone is played without gaps`(_ name: String) async throws {
    let clip = try Clip(name, "-f lavfi -i \(Clip.sine) -t 1.5")
    let playback = try Playback(clip)
    #expect(playback.player.source.video == nil)
    let record = await playback.play()
    #expect(record.audioStart == .success(AudioFormat(sampleRate: 48_000, channels: 1)))
    #expect(abs(record.samples().count - (try clip.sampleCount(channels: 1))) <= 48, "\(name)")
    for (sound, next) in zip(record.sounds, record.sounds.dropFirst()) {
      #expect(abs((next.time - sound.end).nanoseconds) < 10, "\(name) has a gap at \(sound.end)")
    }
    #expect(record.sounds.allSatisfy { $0.samples.count <= 960 })
    #expect(record.audioEnd == .finished)
  }

  @Test func `an animated gif is played by its delays`() async throws {
    let clip = try Clip("moving.gif", "-f lavfi -i testsrc=size=64x48:rate=10 -t 1")
    let playback = try Playback(clip)
    let record = await playback.play()
    #expect(record.pictures.map(\.time.milliseconds) == (0..<10).map { $0 * 100 })
    #expect(record.pictures.allSatisfy { $0.format == .bgra && $0.colorSpace == .sRGB })
    #expect(record.videoEnd == .finished)
  }

  @Test(arguments: ["still.png", "still.jpg", "still.bmp", "single.mp4"])
  func `a still picture is held and shown again each second`(_ name: String) async throws {
    let codec = name.hasSuffix("mp4") ? "-c:v libx264 -pix_fmt yuv420p" : ""
    let clip = try Clip(name, "-f lavfi -i \(Clip.pictures) -frames:v 1 \(codec)")
    let record = await (try Playback(clip, pictureLimit: 4)).play()
    #expect(record.pictures.map(\.time.milliseconds) == [0, 1000, 2000, 3000])
    #expect(record.pictures.map(\.isRepeat) == [false, true, true, true])
    #expect(Set(record.pictures.map(\.sum)).count == 1)
    #expect(record.videoEnd == nil)
  }
}
