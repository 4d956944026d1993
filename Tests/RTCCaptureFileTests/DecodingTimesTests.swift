import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Testing

/// Containers that only know when pictures are decoded (AVI), with pictures that are decoded out of order.
@Suite(.timeLimit(.minutes(2))) struct DecodingTimesTests {
  @Test(arguments: ["-c:v libx264 -bf 2", "-c:v mpeg4 -bf 2"])
  func `the first picture is shown at the beginning each time`(_ coding: String) async throws {
    let clip = try Clip(
      "order.avi",
      "-f lavfi -i \(Clip.pictures) -f lavfi -i \(Clip.sine) -t 1 \(coding) -pix_fmt yuv420p -c:a libmp3lame")
    let sums = try clip.pictures().map(\.sum)
    for _ in 0..<20 {
      let record = await (try Playback(clip)).play()
      #expect(record.pictures.map(\.sum) == sums)
      #expect(record.pictures.map(\.time.milliseconds) == (0..<25).map { $0 * 40 }, "\(coding)")
    }
  }

  @Test(arguments: ["libx264", "mpeg4"]) func `flash and beep come at the same time`(_ codec: String) async throws {
    try await FlashAndBeep("flash.avi", seconds: 5, coding: "-c:v \(codec) -bf 2 -c:a pcm_s16le").checkTogether()
  }

  @Test func `a seek finds the picture of that place`() async throws {
    let clip = try Clip("seek.avi", "-f lavfi -i \(Clip.pictures) -t 4 -c:v libx264 -g 25 -bf 2 -pix_fmt yuv420p")
    let expected = try clip.pictures()
    let playback = try Playback(clip)
    playback.startPaused()
    #expect(await playback.nextPicture()?.sum == expected[0].sum)
    for place in [2_990, 30, 1_510, 3_950, 0, 2_000] {
      await playback.player.seek(to: .milliseconds(Int64(place)))
      #expect(await playback.nextPicture()?.sum == expected[place / 40].sum, "at \(place)")
    }
    _ = playback.stop()
  }
}
