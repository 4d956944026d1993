import FeatureKit
import RTCCodecVPX
import RTCMedia
import RTCPrimitives
import RTCast
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct KeyFrameTests {
  let size = PixelSize(width: 480, height: 272)

  private func controls(keyFrame: Bool = false, active: Bool = true) -> EncoderControls {
    var controls = EncoderControls(EncodingSettings(startBitrate: .megabitsPerSecond(2)))
    controls.wantsKeyFrame = keyFrame
    controls.isActive = active
    return controls
  }

  @Test func `a request on a resting picture is answered at once`() throws {
    let desktop = Desktop(size: size)
    let encoder = try VirtualEncoder()
    try encoder.consume(desktop.frame(damage: nil, at: .zero))
    _ = try encoder.rest(.seconds(Int64(10)))
    encoder.apply(controls(keyFrame: true))
    #expect(try #require(encoder.deadline) <= encoder.now)
    #expect(try encoder.rest(.zero) == 1)
    #expect(encoder.frames.last?.isKeyFrame == true)
    _ = try encoder.rest(.seconds(Int64(10)))
    #expect(desktop.meanSquareError(try #require(encoder.shown)) < 6.5)
  }

  @Test func `requests within 300 ms are served by one key frame`() throws {
    let desktop = Desktop(size: size)
    let encoder = try VirtualEncoder()
    try encoder.consume(desktop.frame(damage: nil, at: .zero))
    _ = try encoder.rest(.seconds(Int64(10)))
    for _ in 0..<30 {
      encoder.apply(controls(keyFrame: true))
      _ = try encoder.rest(.milliseconds(10))
    }
    // One at once, and one for all that asked while it was still fresh.
    _ = try encoder.rest(.milliseconds(300))
    #expect(encoder.statistics.keyFrames == 3)
  }

  @Test func `who comes when nobody watches gets a key frame at once`() throws {
    let encoder = try VirtualEncoder()
    try encoder.consume(Desktop(size: size).frame(damage: nil, at: .zero))
    encoder.apply(controls(active: false))
    encoder.now += .milliseconds(20)
    encoder.apply(controls())
    #expect(try encoder.rest(.zero) == 1)
    #expect(encoder.statistics.keyFrames == 2)
  }

  @Test func `without viewers nothing is encoded and the first gets the newest picture`() throws {
    var desktop = Desktop(size: size)
    let encoder = try VirtualEncoder(EncodingSettings(startBitrate: .megabitsPerSecond(2), isActive: false))
    try encoder.consume(desktop.frame(damage: nil, at: .zero))
    let damage = PixelRect(x: 100, y: 100, width: 64, height: 48)
    desktop.draw(damage, 90)
    try encoder.consume(desktop.frame(damage: [damage], at: .zero))
    #expect(try encoder.rest(.seconds(Int64(10))) == 0)
    encoder.apply(controls())
    #expect(try encoder.rest(.zero) == 1)
    #expect(encoder.frames.first?.isKeyFrame == true)
    _ = try encoder.rest(.seconds(Int64(10)))
    #expect(desktop.meanSquareError(try #require(encoder.shown)) < 6.5)
  }

  @Test func `a source that changes size is followed with a key frame`() throws {
    let encoder = try VirtualEncoder()
    try encoder.consume(Desktop(size: size).frame(damage: nil, at: .zero))
    for size in [PixelSize(width: 320, height: 200), PixelSize(width: 641, height: 363)] {
      let desktop = Desktop(size: size)
      encoder.now += .milliseconds(200)
      // The damage of a frame of another size says nothing about this one.
      try encoder.consume(desktop.frame(damage: [], at: .zero))
      #expect(encoder.frames.last?.isKeyFrame == true)
      _ = try encoder.rest(.seconds(Int64(10)))
      #expect(encoder.shown?.size == size)
      #expect(desktop.meanSquareError(try #require(encoder.shown)) < 6.5)
    }
  }

  @Test func `a size limit scales down in shape`() throws {
    var settings = EncodingSettings()
    settings.sizeLimit = PixelSize(width: 240, height: 240)
    let encoder = try VirtualEncoder(settings)
    try encoder.consume(Desktop(size: size).frame(damage: nil, at: .zero))
    #expect(encoder.shown?.size == PixelSize(width: 240, height: 136))
  }

  @Test(.feature("S4.30")) func `the real thread answers a key frame request while the source rests`() async throws {
    let video = try RunningVideo()
    video.show(try Desktop(size: size).frame(damage: nil, at: .zero))
    #expect(await video.next().isKeyFrame)
    video.outgoing.requestKeyFrame()
    // Refinement may come first.
    while await !video.next().isKeyFrame {}
    video.stop()
    #expect(video.outgoing.statistics().keyFrames == 2)
  }

  @Test func `who asks while a key frame is made is served by it`() async throws {
    let asker = Asker()
    // So that a second key frame would be due at once.
    let video = try RunningVideo(settings: EncodingSettings(keyFrameInterval: .zero)) {
      InterruptedEncoder($0) { if $0.keyFrame { asker.ask() } }
    }
    asker.video.withLock { $0 = video.outgoing }
    var desktop = Desktop(size: size)
    video.show(try desktop.frame(damage: nil, at: .zero))
    #expect(await video.next().isKeyFrame)
    let before = video.outgoing.statistics().keyFrames
    video.outgoing.requestKeyFrame()
    while await !video.next().isKeyFrame {}
    desktop.draw(PixelRect(x: 100, y: 100, width: 64, height: 48), 90)
    video.show(try desktop.frame(damage: nil, at: .zero))
    #expect(await !video.next().isKeyFrame)
    video.stop()
    #expect(video.outgoing.statistics().keyFrames == before + 1)
    asker.video.withLock { $0 = nil }
  }
}

/// Asks for a key frame whenever one is made.
private final class Asker: Sendable {
  let video = Mutex<OutgoingVideo?>(nil)
  func ask() { video.withLock { $0 }?.requestKeyFrame() }
}
