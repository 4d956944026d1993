import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Testing

/// A file that is held at its beginning until its receiver is there.
@Suite(.timeLimit(.minutes(2))) struct HoldTests {
  private static let coding =
    "-f lavfi -i \(Clip.pictures) -f lavfi -i sine=d=2 -t 2 -c:v libx264 -g 50 -bf 0 -pix_fmt yuv420p -c:a libopus"

  @Test func `a file that was held begins with its first picture and its first sound, passed on`() async throws {
    let clip = try Clip("hold.mkv", Self.coding)
    let playback = try Playback(clip, passthrough: .standard)
    let capturer = try #require(playback.player.source.video as? any EncodedVideoCapturer)
    let hold = try #require(playback.player.source.playback)
    hold.hold()
    // As a broadcast starts it: the sound, then the pictures, then the way past the decoder.
    playback.player.source.audio?.startCapture(consumer: playback)
    capturer.startCapture(format: capturer.supportedFormats[0], consumer: playback)
    await playback.untilStarted()
    capturer.setPassthrough(to: playback)
    // Pictures begin where Opus has skipped what comes before its first sound. The second key frame comes after 2 s.
    #expect(capturer.timeToNextKeyFrame().map { $0 < .milliseconds(40) } == true)
    #expect(playback.player.position == .zero)
    #expect(playback.player.playback == .preparing)
    hold.release()
    let record = await playback.untilEnded()
    #expect(record.encoded.count == 50 && record.encoded.first?.isKeyFrame == true)
    let first = try #require(record.encoded.first?.captureTime)
    #expect(record.sounds.first.map { abs((Playback.start + $0.time - first).milliseconds) <= 20 } == true)
    capturer.setPassthrough(to: nil)
  }

  @Test func `a file that plays is not held`() async throws {
    let clip = try Clip("hold.mkv", Self.coding)
    let playback = try Playback(clip) { number, player in
      if number == 10 { player.source.playback?.hold() }
    }
    let record = await playback.play()
    #expect(record.pictures.count == 50)
  }

  @Test func `a place in a held file is found, and the file stays held`() async throws {
    let clip = try Clip("hold-mute.mp4", "-f lavfi -i \(Clip.pictures) -t 2 -c:v libx264 -g 50 -bf 0 -pix_fmt yuv420p")
    let playback = try Playback(clip)
    let capturer = try #require(playback.player.source.video)
    playback.player.source.playback?.hold()
    capturer.startCapture(format: capturer.supportedFormats[0], consumer: playback)
    await playback.player.seek(to: .seconds(1))
    #expect(playback.player.playback == .preparing)
    playback.player.source.playback?.release()
    let first = await playback.nextPicture()
    let expected = try clip.pictures()
    #expect(first?.sum == expected[25].sum)
    capturer.stopCapture()
  }
}
