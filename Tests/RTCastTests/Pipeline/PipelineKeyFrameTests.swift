import FeatureKit
import RTCCodecVPX
import RTCMedia
import RTCPrimitives
import RTCast
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct PipelineKeyFrameTests {
  let size = PixelSize(width: 480, height: 272)

  private func orders(keyFrame: Bool = false, active: Bool = true) -> EncoderControls {
    var orders = EncoderControls(PipelineSettings(startBitrate: .megabitsPerSecond(2)))
    orders.wantsKeyFrame = keyFrame
    orders.isActive = active
    return orders
  }

  @Test func `a request on a resting picture is answered at once`() throws {
    let desktop = Desktop(size: size)
    let pipeline = try VirtualPipeline()
    try pipeline.consume(desktop.frame(damage: nil, at: .zero))
    _ = try pipeline.rest(.seconds(Int64(10)))
    pipeline.obey(orders(keyFrame: true))
    #expect(try #require(pipeline.deadline) <= pipeline.clock.now)
    #expect(try pipeline.rest(.zero) == 1)
    #expect(pipeline.frames.last?.isKeyFrame == true)
    _ = try pipeline.rest(.seconds(Int64(10)))
    #expect(desktop.meanSquareError(try #require(pipeline.shown)) < 6.5)
  }

  @Test func `requests within a frame interval are served by one key frame`() throws {
    let desktop = Desktop(size: size)
    let pipeline = try VirtualPipeline()
    try pipeline.consume(desktop.frame(damage: nil, at: .zero))
    _ = try pipeline.rest(.seconds(Int64(10)))
    for _ in 0..<30 {
      pipeline.obey(orders(keyFrame: true))
      _ = try pipeline.rest(.milliseconds(1))
    }
    // One at once, and one for all that asked while it was still fresh.
    _ = try pipeline.rest(.milliseconds(40))
    #expect(pipeline.statistics.keyFrames == 3)
  }

  @Test func `without viewers nothing is encoded and the first gets the newest picture`() throws {
    var desktop = Desktop(size: size)
    let pipeline = try VirtualPipeline(PipelineSettings(startBitrate: .megabitsPerSecond(2), isActive: false))
    try pipeline.consume(desktop.frame(damage: nil, at: .zero))
    let damage = PixelRect(x: 100, y: 100, width: 64, height: 48)
    desktop.draw(damage, 90)
    try pipeline.consume(desktop.frame(damage: [damage], at: .zero))
    #expect(try pipeline.rest(.seconds(Int64(10))) == 0)
    pipeline.obey(orders())
    #expect(try pipeline.rest(.zero) == 1)
    #expect(pipeline.frames.first?.isKeyFrame == true)
    _ = try pipeline.rest(.seconds(Int64(10)))
    #expect(desktop.meanSquareError(try #require(pipeline.shown)) < 6.5)
  }

  @Test func `a source that changes size is followed with a key frame`() throws {
    let pipeline = try VirtualPipeline()
    try pipeline.consume(Desktop(size: size).frame(damage: nil, at: .zero))
    for size in [PixelSize(width: 320, height: 200), PixelSize(width: 641, height: 363)] {
      let desktop = Desktop(size: size)
      pipeline.clock.now += .milliseconds(200)
      // The damage of a frame of another size says nothing about this one.
      try pipeline.consume(desktop.frame(damage: [], at: .zero))
      #expect(pipeline.frames.last?.isKeyFrame == true)
      _ = try pipeline.rest(.seconds(Int64(10)))
      #expect(pipeline.shown?.size == size)
      #expect(desktop.meanSquareError(try #require(pipeline.shown)) < 6.5)
    }
  }

  @Test func `a size limit scales down in shape`() throws {
    var settings = PipelineSettings()
    settings.sizeLimit = PixelSize(width: 240, height: 240)
    let pipeline = try VirtualPipeline(settings)
    try pipeline.consume(Desktop(size: size).frame(damage: nil, at: .zero))
    #expect(pipeline.shown?.size == PixelSize(width: 240, height: 136))
  }

  @Test func `the real thread answers a key frame request while the source rests`() async throws {
    let (frames, continuation) = AsyncStream.makeStream(of: EncodedFrame.self)
    let pipeline = VideoPipeline(
      settings: PipelineSettings(), makeEncoder: { settings throws(VideoEncoderError) in try VP8Encoder(settings) },
      sink: { continuation.yield($0) })
    pipeline.consume(try Desktop(size: size).frame(damage: nil, at: .zero))
    var iterator = frames.makeAsyncIterator()
    #expect(await iterator.next()?.isKeyFrame == true)
    pipeline.requestKeyFrame()
    var next = await iterator.next()
    // Refinement may come first.
    while let frame = next, !frame.isKeyFrame { next = await iterator.next() }
    #expect(next?.isKeyFrame == true)
    pipeline.stop()
    #expect(pipeline.statistics().keyFrames == 2)
  }

  @Test func `who asks while a key frame is made is served by it`() async throws {
    let (frames, continuation) = AsyncStream.makeStream(of: EncodedFrame.self)
    let asker = Asker()
    let pipeline = VideoPipeline(
      // So that a second key frame would be due at once.
      settings: PipelineSettings(maxFrameRate: 1_000),
      makeEncoder: { settings throws(VideoEncoderError) in InterruptedEncoder(try VP8Encoder(settings), asker) },
      sink: { continuation.yield($0) })
    asker.pipeline.withLock { $0 = pipeline }
    var desktop = Desktop(size: size)
    pipeline.consume(try desktop.frame(damage: nil, at: .zero))
    var iterator = frames.makeAsyncIterator()
    #expect(await iterator.next()?.isKeyFrame == true)
    let before = pipeline.statistics().keyFrames
    pipeline.requestKeyFrame()
    var next = await iterator.next()
    while let frame = next, !frame.isKeyFrame { next = await iterator.next() }
    desktop.draw(PixelRect(x: 100, y: 100, width: 64, height: 48), 90)
    pipeline.consume(try desktop.frame(damage: nil, at: .zero))
    #expect(await iterator.next()?.isKeyFrame == false)
    pipeline.stop()
    #expect(pipeline.statistics().keyFrames == before + 1)
    asker.pipeline.withLock { $0 = nil }
  }
}

/// Asks for a key frame whenever one is made.
private final class Asker: Sendable {
  let pipeline = Mutex<VideoPipeline?>(nil)
  func ask() { pipeline.withLock { $0 }?.requestKeyFrame() }
}

private final class InterruptedEncoder: VideoEncoder {
  private let encoder: VP8Encoder
  private let asker: Asker

  init(_ encoder: VP8Encoder, _ asker: Asker) {
    self.encoder = encoder
    self.asker = asker
  }

  var codec: VideoCodec { encoder.codec }
  var settings: VideoEncoderSettings { encoder.settings }
  var picture: InputPicture { encoder.picture }
  func reconfigure(_ settings: VideoEncoderSettings) throws(VideoEncoderError) { try encoder.reconfigure(settings) }
  func setTargetBitrate(_ rate: BitRate) { encoder.setTargetBitrate(rate) }
  func refinementTime(now: Timestamp) -> Timestamp? { encoder.refinementTime(now: now) }
  func refine(now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? { try encoder.refine(now: now) }

  func encode(_ job: EncodeJob) throws(VideoEncoderError) -> EncodedFrame? {
    if job.keyFrame { asker.ask() }
    return try encoder.encode(job)
  }
}
