import RTCMedia
import RTCPlayout
import RTCPrimitives
import Synchronization
import Testing

/// Gives one value for ever, or whatever a test wants.
private final class Steady: PlayoutSource {
  private let value: Float
  private let calls = Mutex(0)
  private let length: @Sendable (Int) -> Int

  init(_ value: Float, length: @escaping @Sendable (Int) -> Int = { 2 * $0 }) {
    self.value = value
    self.length = length
  }

  func render(sampleCount: Int, delay: TimeDelta) -> [Float] {
    calls.withLock { $0 += 1 }
    return [Float](repeating: value, count: length(sampleCount))
  }

  var count: Int { calls.withLock { $0 } }
}

@Suite struct Mixing {
  private let mixer = AudioMixer()

  private func render(_ count: Int = 480) -> [Float] { mixer.render(sampleCount: count, delay: .zero) }

  @Test func `without a source there is silence, as much as is asked for`() {
    #expect(render() == [Float](repeating: 0, count: 960))
    #expect(render(0).isEmpty && render(-5).isEmpty)
  }

  @Test func `what is not loud is the exact sum`() {
    for value in [0.1, 0.2, -0.05] as [Float] { mixer.add(Steady(value)) }
    #expect(render().allSatisfy { abs($0 - 0.25) < 1e-6 })
  }

  @Test func `any number of loud sources stays below full scale, in order of loudness`() {
    var last: Float = 0
    for _ in 0..<40 {
      mixer.add(Steady(0.3))
      let now = render()[0]
      #expect(now > last && now < 1)
      last = now
    }
  }

  @Test func `a source that goes fades out within one piece and is not asked again`() {
    let source = Steady(0.5)
    mixer.add(source)
    #expect(render().last == 0.5)
    mixer.remove(source)
    let last = stride(from: 0, to: 960, by: 2).map { [sound = render()] in sound[$0] }
    #expect(zip(last, last.dropFirst()).allSatisfy { $0 > $1 && $0 - $1 < 0.01 })
    #expect(last.last == 0)
    #expect(render().allSatisfy { $0 == 0 })
    #expect(source.count == 2)
  }

  @Test func `a source is heard once however often it is added, and again after it was taken out`() {
    let source = Steady(0.5)
    mixer.add(source)
    mixer.add(source)
    mixer.remove(source)
    mixer.add(source)
    #expect(mixer.sources.count == 1)
    #expect(render().allSatisfy { $0 == 0.5 })
  }

  @Test func `a source that gives too little, too much or no numbers harms nobody`() {
    mixer.add(Steady(0.25))
    mixer.add(Steady(0.5) { _ in 3 })
    mixer.add(Steady(0.125) { $0 * 4 })
    #expect(render()[0] > 0.8 && render()[100] == 0.375)
    mixer.add(Steady(.nan))
    mixer.add(Steady(.infinity))
    #expect(render().allSatisfy { abs($0) <= 1 })
  }
}
