import RTCCodecVPX
import RTCMedia
import RTCPrimitives
import RTCast
import Testing

/// The encoders of two rungs and their interplay.
@Suite struct RungEncodingTests {
  private let size = PixelSize(width: 480, height: 272)
  private let small = PixelRect(x: 100, y: 100, width: 64, height: 48)

  // MARK: - Handover

  /// An encoder that has been at rest, while viewers of the side rung wait.
  private func waiting(_ hint: ContentHint = .detail, for length: TimeDelta = .seconds(Int64(10))) throws
    -> VirtualEncoder
  {
    let settings = EncodingSettings(contentHint: hint, startBitrate: .megabitsPerSecond(2))
    let encoder = try VirtualEncoder(settings)
    try encoder.consume(try Desktop(size: size).frame(damage: nil, at: .zero))
    _ = try encoder.rest(length)
    var controls = EncoderControls(settings)
    controls.awaitsHandover = true
    encoder.apply(controls)
    return encoder
  }

  @Test func `a new page is a key frame when somebody waits for one`() throws {
    let encoder = try waiting()
    var desktop = Desktop(size: size)
    desktop.draw(small, 90)
    try encoder.consume(desktop.frame(damage: [small], at: encoder.now))
    #expect(encoder.frames.last?.isKeyFrame == false, "a small change is not worth it")
    _ = try encoder.rest(.seconds(Int64(1)))
    try encoder.consume(desktop.frame(damage: nil, at: encoder.now))
    #expect(encoder.frames.last?.isKeyFrame == true)
  }

  @Test func `a new page that is drawn in steps is a key frame when the last of it is there`() throws {
    let encoder = try waiting()
    let desktop = Desktop(size: size)
    var keyFrames: [Bool] = []
    for step in 0..<4 {
      let part = PixelRect(x: 0, y: step * 68, width: size.width, height: 68)
      encoder.now += .milliseconds(33)
      let before = encoder.statistics.keyFrames
      try encoder.consume(desktop.frame(damage: [part], at: encoder.now))
      keyFrames.append(encoder.statistics.keyFrames > before)
    }
    #expect(keyFrames == [false, false, false, true])
    // Slowly, they are changes of parts.
    encoder.now += .seconds(Int64(5))
    for step in 0..<4 {
      encoder.now += .milliseconds(400)
      let part = PixelRect(x: 0, y: step * 68, width: size.width, height: 68)
      try encoder.consume(desktop.frame(damage: [part], at: encoder.now))
    }
    #expect(encoder.statistics.keyFrames == 2)
  }

  @Test func `a new page is no key frame when nobody waits`() throws {
    let encoder = try waiting()
    encoder.apply(EncoderControls(EncodingSettings(startBitrate: .megabitsPerSecond(2))))
    try encoder.consume(Desktop(size: size).frame(damage: nil, at: encoder.now))
    #expect(encoder.statistics.keyFrames == 1)
  }

  @Test func `a movement goes on without a key frame`() throws {
    let encoder = try waiting()
    encoder.apply(EncoderControls(EncodingSettings(startBitrate: .megabitsPerSecond(2))))
    for step in 0..<20 {
      if step == 1 {
        var controls = EncoderControls(EncodingSettings(startBitrate: .megabitsPerSecond(2)))
        controls.awaitsHandover = true
        encoder.apply(controls)
      }
      encoder.now += .milliseconds(33)
      try encoder.consume(Desktop(size: size).frame(damage: nil, at: encoder.now))
    }
    #expect(encoder.statistics.keyFrames == 1)
  }

  @Test func `a film makes a key frame every thirty seconds for those who have waited for five`() throws {
    let encoder = try waiting(.motion, for: .seconds(Int64(60)))
    var keyFrames: [Timestamp] = []
    let start = encoder.now
    while encoder.now - start < .seconds(Int64(40)) {
      try encoder.consume(Desktop(size: size).frame(damage: nil, at: encoder.now))
      if encoder.frames.last?.isKeyFrame == true { keyFrames.append(encoder.now) }
      encoder.now += .milliseconds(500)
    }
    #expect(keyFrames.map { ($0 - start).milliseconds } == [5_000, 35_000])
  }

  // MARK: - One picture for both

  /// Two encoders of one size, the second of which reads the first one's picture.
  private final class Pair {
    var main: EncodeStage
    var side: EncodeStage
    let decoder: VP8Decoder
    var now = Timestamp.zero
    var shown: PixelBuffer?
    var frames: [EncodedFrame] = []

    init() throws {
      func stage() -> EncodeStage {
        EncodeStage(
          settings: EncodingSettings(startBitrate: .megabitsPerSecond(2)),
          makeEncoder: { settings throws(VideoEncoderError) in try VP8Encoder(settings) })
      }
      main = stage()
      side = stage()
      decoder = try VP8Decoder()
    }

    func consume(_ frame: VideoFrame, isNext: Bool = true) throws {
      now += .milliseconds(100)
      main.take(frame, now: now)
      _ = main.encode(now: now)
      try shareMain(isNext: isNext)
      try show(side.encode(now: now))
    }

    func shareMain(isNext: Bool) throws {
      let picture = main.share(isNext: isNext)
      side.take(try #require(picture), isShared: true, now: now)
    }

    func rest(_ length: TimeDelta) throws {
      let end = now + length
      while let deadline = side.nextDeadline(now: now), deadline <= end {
        now = max(now, deadline)
        try show(side.serve(now: now))
      }
      now = end
    }

    func show(_ frame: EncodedFrame?) throws {
      guard let frame else { return }
      frames.append(frame)
      shown = try decoder.decode(frame.data)
    }
  }

  @Test func `the side rung reads the main rung's picture and hears of its changes`() throws {
    let pair = try Pair()
    var desktop = Desktop(size: size)
    try pair.consume(try desktop.frame(damage: nil, at: .zero), isNext: false)
    try pair.rest(.seconds(Int64(10)))
    #expect(desktop.meanSquareError(try #require(pair.shown)) < 6.5)
    let whole = pair.frames.reduce(0) { $0 + $1.data.count }
    desktop.draw(small, 90)
    try pair.consume(try desktop.frame(damage: [small], at: pair.now))
    #expect(try #require(pair.frames.last).data.count < whole / 10, "only what changed is coded")
    try pair.rest(.seconds(Int64(10)))
    #expect(desktop.meanSquareError(try #require(pair.shown)) < 6.5)
    #expect(pair.side.statistics.rawCopies == 0)
  }

  @Test func `who takes the main rung's place keeps its picture`() throws {
    let pair = try Pair()
    var desktop = Desktop(size: size)
    try pair.consume(try desktop.frame(damage: nil, at: .zero), isNext: false)
    try pair.rest(.seconds(Int64(10)))
    let whole = pair.frames.reduce(0) { $0 + $1.data.count }
    pair.side.adopt()
    pair.main.release()
    // By the source itself from now on.
    desktop.draw(small, 90)
    pair.now += .milliseconds(100)
    pair.side.take(try desktop.frame(damage: [small], at: pair.now), now: pair.now)
    try pair.show(pair.side.encode(now: pair.now))
    let last = try #require(pair.frames.last)
    #expect(!last.isKeyFrame && last.data.count < whole / 10)
    try pair.rest(.seconds(Int64(10)))
    #expect(desktop.meanSquareError(try #require(pair.shown)) < 6.5)
  }

  @Test func `an encoder that was let go of begins anew with the picture that is there`() throws {
    let pair = try Pair()
    let desktop = Desktop(size: size)
    try pair.consume(try desktop.frame(damage: nil, at: .zero), isNext: false)
    pair.side.release()
    #expect(!pair.side.isPrepared && pair.side.nextDeadline(now: pair.now) == nil)
    try pair.shareMain(isNext: false)
    try pair.show(pair.side.encode(now: pair.now))
    #expect(pair.frames.last?.isKeyFrame == true && pair.frames.count == 2)
    #expect(pair.frames.map(\.number) == [0, 1])
  }

  // MARK: - Load

  @Test func `two encodes that do not keep up halve the side rung's frame rate until they would`() {
    var load = EncodingLoad()
    var now = Timestamp.zero
    let interval = TimeDelta.milliseconds(40)
    func run(_ main: Int64, _ side: Int64, _ length: TimeDelta = .milliseconds(2_100)) {
      let end = now + length
      var isLeftOut = false
      while now < end {
        isLeftOut = load.isHalved && !isLeftOut
        load.note(
          main: .milliseconds(main), side: isLeftOut ? nil : .milliseconds(side), interval: interval, now: now)
        now += interval
      }
    }
    run(16, 15)
    #expect(!load.isHalved)
    run(18, 17)
    #expect(load.isHalved, "35 of 40 ms")
    run(14, 13)
    #expect(load.isHalved, "27 of 40 ms: more than 60 %")
    run(12, 11)
    run(12, 11)
    #expect(!load.isHalved)
    run(18, 17)
    run(18, 17)
    load.rest()
    #expect(!load.isHalved)
  }

  @Test func `few pictures a second leave time enough`() {
    var load = EncodingLoad()
    for step in 0..<20 {
      load.note(
        main: .milliseconds(30), side: .milliseconds(30), interval: .milliseconds(33),
        now: .zero + .milliseconds(Int64(step * 500)))
    }
    #expect(!load.isHalved)
  }
}
