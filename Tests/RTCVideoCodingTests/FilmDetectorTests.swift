import RTCPrimitives
import RTCVideoCoding
import Testing

@Suite struct FilmDetectorTests {
  private var detector = FilmDetector()
  private var now = Timestamp.zero + .seconds(Int64(1))

  /// Changes of this similarity, 25 a second.
  private mutating func show(_ similarity: Double, for time: TimeDelta, every step: TimeDelta = .milliseconds(40)) {
    let end = now + time
    while now < end {
      now += step
      detector.note(similarity: similarity, now: now)
    }
  }

  @Test mutating func `a second of pictures is a film`() {
    show(0.6, for: .milliseconds(800))
    #expect(!detector.isPlaying)
    show(0.6, for: .milliseconds(400))
    #expect(detector.isPlaying)
  }

  @Test mutating func `text that moves is none`() {
    show(0.1, for: .seconds(Int64(5)))
    #expect(!detector.isPlaying)
  }

  @Test mutating func `single pictures are none`() {
    show(0.6, for: .seconds(Int64(20)), every: .milliseconds(400))
    #expect(!detector.isPlaying)
  }

  @Test mutating func `a film remains one while something passes over it, and is none when text follows`() {
    show(0.6, for: .seconds(Int64(5)))
    show(0.1, for: .milliseconds(300))
    #expect(detector.isPlaying)
    show(0.6, for: .milliseconds(400))
    show(0.1, for: .milliseconds(700))
    #expect(!detector.isPlaying)
    // What went for a moment needs its second again.
    show(0.6, for: .milliseconds(400))
    #expect(!detector.isPlaying)
  }

  @Test mutating func `a film that stood still for long is none until it has played on`() {
    show(0.6, for: .seconds(Int64(5)))
    now += .seconds(Int64(10))
    show(0.6, for: .milliseconds(200))
    #expect(!detector.isPlaying)
    show(0.6, for: .milliseconds(1_000))
    #expect(detector.isPlaying)
  }
}
