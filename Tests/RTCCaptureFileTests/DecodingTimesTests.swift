import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Testing

/// Containers that only know when pictures are decoded (AVI), with pictures that are decoded out of order.
@Suite(.timeLimit(.minutes(2))) struct DecodingTimesTests {
  @Test(arguments: ["-c:v libx264 -bf 2", "-c:v mpeg4 -bf 2"])
  func theFirstPictureIsShownAtTheBeginningEachTime(_ coding: String) async throws {
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

  @Test(arguments: ["libx264", "mpeg4"]) func flashAndBeepComeAtTheSameTime(_ codec: String) async throws {
    let clip = try Clip(
      "flash.avi",
      "-f lavfi -i color=black:s=64x64:r=25,geq=lum='if(lt(mod(T\\,1)\\,0.03)\\,235\\,16)':cb=128:cr=128 "
        + "-f lavfi -i aevalsrc='if(lt(mod(t\\,1)\\,0.04)\\,sin(2*PI*1000*t)\\,0)':s=48000 -t 5 "
        + "-c:v \(codec) -bf 2 -pix_fmt yuv420p -c:a pcm_s16le")
    let record = await (try Playback(clip)).play()
    let flashes = record.pictures.filter { $0.middle[0] > 150 }.map(\.time)
    #expect(flashes.count == 5)
    for flash in flashes {
      let sound = try #require(
        record.sounds.first { abs(($0.time - flash).milliseconds) < 200 && $0.samples.contains { abs($0) > 0.3 } },
        "no beep at \(flash)")
      let offset = try #require(sound.samples.firstIndex { abs($0) > 0.3 })
      let time = sound.time + .nanoseconds(Int64(offset) * 1_000_000_000 / 48_000)
      #expect(abs((time - flash).milliseconds) <= 10, "flash at \(flash), beep at \(time)")
    }
  }

  @Test func aSeekFindsThePictureOfThatPlace() async throws {
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
