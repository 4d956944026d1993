import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Testing

/// Damaged files play as far as they go, or are refused: nothing crashes and nothing hangs. The time limits only end what
/// would never end.
@Suite(.timeLimit(.minutes(5))) struct CorruptionTests {
  private static let both = "-f lavfi -i testsrc=size=64x48:rate=25 -f lavfi -i \(Clip.sine) -t 0.6"

  @Test(
    arguments: [
      ("a.mp4", "\(both) -c:v libx264 -bf 2 -g 8 -pix_fmt yuv420p -c:a aac"),
      ("a.mkv", "\(both) -c:v libx264 -bf 2 -g 8 -pix_fmt yuv420p -c:a flac"),
      ("a.webm", "\(both) -c:v libvpx -deadline realtime -g 8 -c:a libopus"),
      ("a.ts", "\(both) -c:v libx264 -g 8 -pix_fmt yuv420p -c:a aac"),
      ("a.avi", "\(both) -c:v mpeg4 -bf 2 -g 8 -pix_fmt yuv420p -c:a libmp3lame"),
      ("a.y4m", "-f lavfi -i testsrc=size=64x48:rate=25 -t 0.4 -pix_fmt yuv420p"),
      ("a.gif", "-f lavfi -i testsrc=size=64x48:rate=10 -t 0.6"),
    ]) func `damaged bytes neither crash nor hang`(_ name: String, _ arguments: String) async throws
  {
    let clip = try Clip(name, arguments)
    let whole = clip.bytes
    var generator = SeededGenerator(seed: 11)
    var played = 0
    for round in 0..<60 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...24, using: &generator) {
        bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      if round % 4 == 3 { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator)) }
      clip.write(bytes)
      var options = FilePlayer.Options()
      options.isLooped = round % 5 == 0
      guard let playback = try? Playback(clip, options, pictureLimit: 40, keepsSums: false) else { continue }
      // Looped sound without pictures would go on for ever.
      let hasVideo = playback.player.source.video != nil
      guard hasVideo || !options.isLooped else { continue }
      let record = await playback.play(audio: !options.isLooped)
      if !record.pictures.isEmpty { played += 1 }
      #expect(playback.player.outstandingPictures == 0)
    }
    #expect(played > 5)
  }

  /// The last that happens is that the reader finds nothing more to do: whoever waits must hear of it, each time.
  @Test func `a file without a single picture is refused each time`() async throws {
    let clip = try Clip("header.y4m", bytes: Array("YUV4MPEG2 W64 H48 F25:1 Ip A1:1 C420jpeg\n".utf8))
    for _ in 0..<200 {
      let record = await (try Playback(clip)).play()
      guard case .failure(.noSuchSource(let sentence)) = record.videoStart else {
        Issue.record("\(String(describing: record.videoStart))"); return
      }
      #expect(sentence.contains("could be decoded"))
    }
  }

  @Test func `a loop of which nothing can be decoded ends`() async throws {
    let clip = try Clip("garbage.mp4", "\(Self.both) -c:v libx264 -bf 2 -g 8 -pix_fmt yuv420p -c:a aac")
    var bytes = clip.bytes
    let box = try #require(bytes.indices.dropLast(4).first { bytes[$0..<($0 + 4)].elementsEqual("mdat".utf8) })
    let length = bytes[(box - 4)..<box].reduce(0) { $0 << 8 | Int($1) }
    for index in (box + 4)..<(box - 4 + length) { bytes[index] = 0xFF }
    clip.write(bytes)
    var options = FilePlayer.Options()
    options.isLooped = true
    let record = await (try Playback(clip, options, pictureLimit: 40)).play(audio: false)
    #expect(record.pictures.isEmpty)
    guard case .failure = record.videoStart else {
      return #expect(record.videoEnd != nil, "\(String(describing: record.videoStart))")
    }
  }
}
