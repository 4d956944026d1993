import RTCMedia
import RTCPrimitives
import Testing

/// Each second one picture is white, and a tone of 1 kHz sounds for as long.
struct FlashAndBeep {
  let clip: Clip
  private let seconds: Int

  init(_ name: String, seconds: Int, coding: String) throws {
    self.seconds = seconds
    clip = try Clip(
      name,
      "-f lavfi -i color=black:s=64x64:r=25,geq=lum='if(lt(mod(T\\,1)\\,0.03)\\,235\\,16)':cb=128:cr=128 "
        + "-f lavfi -i aevalsrc='if(lt(mod(t\\,1)\\,0.04)\\,sin(2*PI*1000*t)\\,0)':s=48000 -t \(seconds) "
        + "\(coding) -pix_fmt yuv420p")
  }

  /// Every flash comes within 10 ms of its beep.
  func checkTogether() async throws {
    let record = await (try Playback(clip)).play()
    let flashes = record.pictures.filter { $0.middle[0] > 150 }.map(\.time)
    #expect(flashes.count == seconds)
    for flash in flashes {
      let sound = try #require(
        record.sounds.first { abs(($0.time - flash).milliseconds) < 200 && $0.samples.contains { abs($0) > 0.3 } },
        "no beep at \(flash)")
      let offset = try #require(sound.samples.firstIndex { abs($0) > 0.3 })
      let time = sound.time + .nanoseconds(Int64(offset) * 1_000_000_000 / 48_000)
      #expect(abs((time - flash).milliseconds) <= 10, "flash at \(flash), beep at \(time)")
    }
  }
}
