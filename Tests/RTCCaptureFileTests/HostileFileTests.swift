import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Testing

/// Files made to end the program, or to show something else than themselves.
@Suite(.timeLimit(.minutes(2))) struct HostileFileTests {
  // MARK: - B2: times

  /// An element of Matroska: its number, the length in eight bytes, and what is in it.
  private func element(_ id: [UInt8], _ body: [UInt8]) -> [UInt8] {
    let size = UInt64(body.count) | 1 << 56
    return id + (0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * UInt64($0))) } + body
  }

  private func number(_ value: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) } }

  /// Thirty key frames of VP8, each of which lasts `duration` milliseconds by its own word and is shown at `time`.
  private func matroska(_ frames: [[UInt8]], duration: UInt64, clusterTime: UInt64 = 0) -> [UInt8] {
    let header = element([0x1A, 0x45, 0xDF, 0xA3], element([0x42, 0x82], Array("matroska".utf8)))
    let info = element([0x15, 0x49, 0xA9, 0x66], element([0x2A, 0xD7, 0xB1], number(1_000_000)))
    let size = element([0xB0], number(64)) + element([0xBA], number(48))
    let entry = [
      element([0xD7], [1]), element([0x73, 0xC5], [1]), element([0x83], [1]), element([0x86], Array("V_VP8".utf8)),
      element([0xE0], size),
    ]
    let tracks = element([0x16, 0x54, 0xAE, 0x6B], element([0xAE], Array(entry.joined())))
    let blocks = frames.enumerated().map { index, frame in
      element(
        [0xA0],
        element([0xA1], [0x81, UInt8(index >> 8), UInt8(index & 0xFF), 0x80] + frame)
          + element([0x9B], number(duration)))
    }
    let cluster = element([0x1F, 0x43, 0xB6, 0x75], element([0xE7], number(clusterTime)) + Array(blocks.joined()))
    return header + element([0x18, 0x53, 0x80, 0x67], info + tracks + cluster)
  }

  private func keyFrames() throws -> [[UInt8]] {
    let clip = try Clip("keys.ivf", "-f lavfi -i testsrc=size=64x48:rate=25 -frames:v 30 -c:v libvpx -g 1")
    let bytes = clip.bytes
    var frames: [[UInt8]] = []
    var offset = 32
    while offset + 12 <= bytes.count {
      let size = (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
      frames.append(Array(bytes[(offset + 12)..<(offset + 12 + size)]))
      offset += 12 + size
    }
    return frames
  }

  @Test(arguments: [40, 2_900_000_000_000, 3_000_000, 9_000_000_000_000, UInt64(Int64.max)])
  func `B2: pictures that claim to last for years are played`(duration: UInt64) async throws {
    let frames = try keyFrames()
    try #require(frames.count == 30)
    let clip = try Clip("lasting.mkv", bytes: matroska(frames, duration: duration))
    let record = await (try Playback(clip, pictureLimit: 30)).play()
    #expect(record.pictures.count >= 1)
  }

  @Test(arguments: [9_200_000_000_000, 300_000_000_000, UInt64(Int64.max)])
  func `B2: pictures from another age are played or refused`(time: UInt64) async throws {
    let clip = try Clip("old.mkv", bytes: matroska(try keyFrames(), duration: 40, clusterTime: time))
    guard let playback = try? Playback(clip, pictureLimit: 30) else { return }
    let record = await playback.play()
    #expect(record.videoStart != nil)
  }

  // MARK: - B17: files that name others

  private func refusal(_ clip: Clip) -> String? {
    do throws(CaptureError) {
      _ = try FilePlayer.open(path: clip.path, hosts: Probe.hosts)
      return nil
    } catch {
      return error.sentence
    }
  }

  @Test(arguments: ["list.mkv", "list.ffconcat", "list.mp4"])
  func `B17: a list of other files is refused, whatever it is called`(_ name: String) throws {
    // A relative name, as `ffconcat` allows it without being told to trust the list.
    let target = "rtcast-private-\(UInt32.random(in: 0 ... .max)).ivf"
    let inner = try Clip(target, "-f lavfi -i \(Clip.pictures) -frames:v 10 -c:v libvpx")
    try Shell.run("cp '\(inner.path)' ./\(target)")
    defer { _ = try? Shell.run("rm -f ./\(target)") }
    let clip = try Clip(name, bytes: Array("ffconcat version 1.0\nfile \(target)\n".utf8))
    let sentence = try #require(refusal(clip))
    #expect(sentence.contains("list of other files") && sentence.contains(clip.path))
  }

  @Test func `B17: other readers that open files are refused`() throws {
    let texts = [
      ("a.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1.0,\ninner.ts\n#EXT-X-ENDLIST\n"),
      ("a.sdp", "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\n"),
      ("a.mpd", "<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\"></MPD>"),
      ("a.idx", "# VobSub index file, v7 (do not modify this line!)\n"),
    ]
    for (name, text) in texts {
      let sentence = try #require(refusal(try Clip(name, bytes: Array(text.utf8))), "\(name)")
      #expect(sentence.contains("not played") || sentence.contains("recognised"), "\(name): \(sentence)")
    }
  }

  /// The containers that `rtcast file --help` names and that no other test reads.
  @Test(arguments: [
    ("a.flv", "-c:v flv1"), ("a.mpg", "-c:v mpeg2video"), ("a.aac", "-vn -c:a aac"), ("a.webp", "-frames:v 1"),
  ])
  func `B17: the containers that are documented are read`(_ name: String, _ arguments: String) throws {
    let clip = try Clip(name, "-f lavfi -i \(Clip.pictures) -f lavfi -i \(Clip.sine) -t 1 \(arguments)")
    #expect(refusal(clip) == nil)
  }
}
