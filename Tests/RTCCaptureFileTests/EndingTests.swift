import RTCCaptureFile
import RTCMedia
import Testing

@Suite struct EndingTests {
  /// A delivery that looks while the reader is between its last piece of work and its rest hears of the end afterwards.
  @Test(.timeLimit(.minutes(2)), arguments: [("v", true, false), ("a", false, true), ("va", true, true)])
  func `a file ends however its threads take turns`(_ name: String, hasVideo: Bool, hasAudio: Bool) async throws {
    let inputs = (hasVideo ? "-f lavfi -i \(Clip.pictures) " : "") + (hasAudio ? "-f lavfi -i \(Clip.sine) " : "")
    let clip = try Clip("ending-\(name).mkv", inputs + "-t 0.2 -c:v libx264 -bf 2 -c:a pcm_s16le")
    for _ in 0..<100 {
      let record = await (try Playback(clip, keepsSums: false)).play()
      #expect(record.videoEnd == (hasVideo ? .finished : nil))
      #expect(record.audioEnd == (hasAudio ? .finished : nil))
    }
  }

  /// Its one picture is due at once: it is shown while the decoder has not yet been told that it was the last.
  @Test(.timeLimit(.minutes(2))) func `a still picture is held however its threads take turns`() async throws {
    let clip = try Clip("ending-still.jpg", "-f lavfi -i \(Clip.pictures) -frames:v 1")
    for _ in 0..<200 {
      let record = await (try Playback(clip, pictureLimit: 3, keepsSums: false)).play()
      #expect(record.pictures.count >= 3)
    }
  }
}
