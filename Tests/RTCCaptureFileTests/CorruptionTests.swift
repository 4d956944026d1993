import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Testing

/// Damaged files play as far as they go, or are refused: nothing crashes and nothing hangs.
@Suite struct CorruptionTests {
  private static let both = "-f lavfi -i testsrc=size=64x48:rate=25 -f lavfi -i \(Clip.sine) -t 0.6"

  @Test(
    .timeLimit(.minutes(5)),
    arguments: [
      ("a.mp4", "\(both) -c:v libx264 -bf 2 -g 8 -pix_fmt yuv420p -c:a aac"),
      ("a.webm", "\(both) -c:v libvpx -deadline realtime -g 8 -c:a libopus"),
      ("a.ts", "\(both) -c:v libx264 -g 8 -pix_fmt yuv420p -c:a aac"),
      ("a.gif", "-f lavfi -i testsrc=size=64x48:rate=10 -t 0.6"),
    ])
  func damagedBytesNeitherCrashNorHang(_ name: String, _ arguments: String) async throws {
    let clip = try Clip(name, arguments)
    let whole = clip.bytes
    var generator = SeededGenerator(seed: 11)
    var played = 0
    for round in 0..<100 {
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
    #expect(played > 10)
  }
}
