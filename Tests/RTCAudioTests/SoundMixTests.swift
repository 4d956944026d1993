import RTCAudio
import RTCMedia
import RTCPrimitives
import Testing

@Suite struct SoundMixTests {
  /// A mix that expectations may change.
  private final class Mix {
    private var mix = SoundMix()

    func add(_ frame: AudioFrame, of input: Int) { mix.add(frame, of: input) }
    func remove(_ input: Int) { mix.remove(input) }
    func take() -> AudioFrame? { mix.take() }

    func takeAll() -> [AudioFrame] {
      var frames: [AudioFrame] = []
      while let frame = mix.take() { frames.append(frame) }
      return frames
    }
  }

  /// A frame of 20 ms with one value.
  private func frame(_ value: Float, at milliseconds: Int64, count: Int = 960) -> AudioFrame {
    AudioFrame(
      format: .opus, samples: Array(repeating: value, count: count * 2),
      captureTime: Timestamp(nanoseconds: milliseconds * 1_000_000))
  }

  @Test func `sounds of the same time are added`() {
    let mix = Mix()
    mix.add(frame(0.25, at: 1_000), of: 1)
    #expect(mix.take()?.samples == Array(repeating: 0.25, count: 1_920), "one input alone is given out at once")
    mix.add(frame(0.25, at: 1_020), of: 1)
    mix.add(frame(0.5, at: 1_020), of: 2)
    let both = mix.take()
    #expect(both?.captureTime == Timestamp(nanoseconds: 1_020_000_000))
    #expect(both?.samples == Array(repeating: 0.75, count: 1_920))
    mix.add(frame(0.9, at: 1_040), of: 1)
    #expect(mix.take() == nil, "the other is waited for")
    mix.add(frame(0.9, at: 1_040), of: 2)
    #expect(mix.take()?.samples.allSatisfy { $0 == 1 } == true, "and limited to what can be sent")
  }

  @Test func `a silent input is waited for half a second`() {
    let mix = Mix()
    for time in stride(from: Int64(0), to: 100, by: 20) {
      mix.add(frame(0.25, at: time), of: 1)
      mix.add(frame(0.25, at: time), of: 2)
    }
    #expect(mix.takeAll().reduce(0) { $0 + $1.sampleCount } == 4_800)
    for time in stride(from: Int64(100), to: 600, by: 20) { mix.add(frame(0.25, at: time), of: 1) }
    #expect(mix.takeAll().isEmpty)
    mix.add(frame(0.25, at: 600), of: 1)
    let sound = mix.takeAll()
    #expect(sound.reduce(0) { $0 + $1.sampleCount } == 520 * 48)
    #expect(sound.allSatisfy { $0.samples.allSatisfy { $0 == 0.25 } })
    // It is back: what comes too late for its time is left out, and the rest has its place.
    mix.add(frame(0.5, at: 610), of: 2)
    mix.add(frame(0.25, at: 620), of: 1)
    #expect(mix.take()?.samples == Array(repeating: 0.75, count: 960))
  }

  @Test func `clocks that run apart leave 20 ms of silence in 20 seconds, and what leaps begins anew`() {
    let mix = Mix()
    var sound: [AudioFrame] = []
    for index in 0..<2_000 {
      // A device that is 0.1 % slow: from time to time the count leaps by 20 ms.
      mix.add(frame(0.25, at: Int64(index) * 20 + Int64(index) / 50), of: 1)
      sound += mix.takeAll()
    }
    #expect(sound.reduce(0) { $0 + $1.sampleCount } - 2_000 * 960 < 2_000)
    #expect(sound.flatMap(\.samples).count { $0 == 0 } < 4_000)
    mix.add(frame(0.5, at: 60_000), of: 1)
    let later = mix.take()
    #expect(later?.captureTime == Timestamp(nanoseconds: 60_000_000_000))
    #expect(later?.samples == Array(repeating: 0.5, count: 1_920))
  }

  @Test func `an input that has ended is not waited for`() {
    let mix = Mix()
    mix.add(frame(0.25, at: 0), of: 1)
    mix.add(frame(0.25, at: 0), of: 2)
    #expect(mix.take()?.sampleCount == 960)
    mix.add(frame(0.25, at: 20), of: 1)
    #expect(mix.take() == nil)
    mix.remove(2)
    #expect(mix.take()?.samples == Array(repeating: 0.25, count: 1_920))
  }

  @Test func `other formats and empty frames are left out`() {
    let mix = Mix()
    mix.add(AudioFrame(format: AudioFormat(sampleRate: 8_000, channels: 1), samples: [1], captureTime: .zero), of: 1)
    mix.add(AudioFrame(format: .opus, samples: [], captureTime: .zero), of: 1)
    #expect(mix.take() == nil)
  }
}
