import Foundation
import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Testing

/// Files of which not everything can be played, or not as it is.
@Suite(.timeLimit(.minutes(2))) struct PartsTests {
  private static let both = "-f lavfi -i \(Clip.pictures):duration=1 -f lavfi -i \(Clip.sine):duration=1"

  private func leftOut(of player: FilePlayer) async -> String? {
    for await event in player.events { if case .leftOut(let sentence) = event { return sentence } }
    return nil
  }

  @Test func `without its sound a file plays its pictures`() async throws {
    let clip = try Clip("silent.mkv", "\(Self.both) -af aselect=0 -c:v ffv1 -c:a aac")
    let playback = try Playback(clip)
    let record = await playback.play()
    #expect(record.pictures.count == 25 && record.sounds.isEmpty)
    #expect(record.audioEnd == .finished && record.videoEnd == .finished)
    #expect(await leftOut(of: playback.player)?.hasPrefix("The sound of ") == true)
  }

  /// Six loud channels in two: what goes beyond full scale is not cut off.
  @Test func `channels that are brought together stay whole`() async throws {
    let channel = "0.9*sin(2*PI*441*t)"
    let clip = try Clip(
      "loud.wav",
      "-f lavfi -i aevalsrc='\(Array(repeating: channel, count: 6).joined(separator: "|")):c=5.1:s=44100' -t 1 "
        + "-c:a pcm_f32le")
    let playback = try Playback(clip)
    let record = await playback.play()
    #expect(playback.player.source.audio != nil && record.audioStart?.channels == 2)
    let left = record.sounds.flatMap { sound in
      stride(from: 0, to: sound.samples.count, by: 2).map { Double(sound.samples[$0]) }
    }
    let window = Array(left[4_400..<22_000])
    #expect(strength(of: 441, in: window) > 0.3)
    #expect(strength(of: 1_323, in: window) / strength(of: 441, in: window) < 1e-4)
  }

  /// The amplitude of a tone, of which the samples hold whole periods.
  private func strength(of frequency: Double, in samples: [Double]) -> Double {
    var (real, imaginary) = (0.0, 0.0)
    for (index, sample) in samples.enumerated() {
      let angle = 2 * Double.pi * frequency * Double(index) / 44_100
      real += sample * cos(angle)
      imaginary += sample * sin(angle)
    }
    return 2 * (real * real + imaginary * imaginary).squareRoot() / Double(samples.count)
  }

  /// A picture lasts until the next, whatever the container says of it.
  @Test func `where pictures are far apart the one to be seen is shown`() async throws {
    let clip = try Clip(
      "slides.mp4",
      "-f lavfi -i testsrc=size=160x120:rate=1:duration=3,setpts=N*8/TB -fps_mode passthrough -pix_fmt yuv420p "
        + "-c:v libx264 -bf 0")
    let wanted = try clip.pictures()
    var options = FilePlayer.Options()
    options.start = .seconds(5)
    let record = await (try Playback(clip, options)).play()
    #expect(record.pictures.map(\.sum) == wanted.map(\.sum))
    #expect(record.pictures.map { $0.time.milliseconds } == [0, 3_000, 11_000])
  }
}

extension Result where Success == AudioFormat, Failure == CaptureError {
  fileprivate var channels: Int? { try? get().channels }
}
