import RTCCodecVPX
import RTCMedia
import RTCPrimitives
import RTCast
import Testing

/// One stage that goes over to another codec.
@Suite struct RecodeTests {
  private static let size = PixelSize(width: 320, height: 192)
  private static let vp8: VideoEncoderFactory = { settings throws(VideoEncoderError) in try VP8Encoder(settings) }
  private static let vp9: VideoEncoderFactory = { settings throws(VideoEncoderError) in try VP9Encoder(settings) }

  private static func settings(_ chroma: ChromaSampling) -> EncodingSettings {
    EncodingSettings(startBitrate: .megabitsPerSecond(4), chroma: chroma)
  }

  @Test func `a picture that rests is coded anew without the source's help, with numbers and times that go on`() throws
  {
    var stage = EncodeStage(settings: Self.settings(.full), makeEncoder: Self.vp9)
    let desktop = Desktop(size: Self.size)
    stage.take(try desktop.frame(damage: nil, at: .zero), now: .zero)
    let coded = stage.encode(now: .zero)
    let first = try #require(coded)
    #expect(first.codec == .vp9 && first.chroma == .full && first.isKeyFrame)
    let now = Timestamp.zero + .milliseconds(50)
    stage.recode(chroma: .quarter, by: Self.vp8)
    let recoded = stage.serve(now: now)
    let second = try #require(recoded)
    #expect(second.codec == .vp8 && second.chroma == .quarter && second.isKeyFrame)
    #expect(second.number == first.number + 1 && second.captureTime > first.captureTime)
    let decoder = try VP8Decoder()
    let picture = try #require(try decoder.decode(second.data))
    #expect(desktop.meanSquareError(picture) < 60)
    #expect(stage.statistics.framesCaptured == 1 && stage.statistics.keyFrames == 2)
  }

  @Test func `a finer chroma comes with the source's next picture, all of it`() throws {
    var stage = EncodeStage(settings: Self.settings(.quarter), makeEncoder: Self.vp8)
    let desktop = Desktop(size: Self.size)
    stage.take(try desktop.frame(damage: nil, at: .zero), now: .zero)
    _ = stage.encode(now: .zero)
    stage.recode(chroma: .full, by: Self.vp9)
    let atRest = stage.serve(now: .zero + .seconds(Int64(1)))
    let isPrepared = stage.isPrepared
    #expect(atRest == nil && !isPrepared)
    let later = Timestamp.zero + .seconds(Int64(2))
    stage.take(
      try desktop.frame(damage: [PixelRect(x: 0, y: 0, width: 16, height: 16)], at: later), now: later)
    let coded = stage.encode(now: later)
    let frame = try #require(coded)
    #expect(frame.codec == .vp9 && frame.chroma == .full && frame.isKeyFrame)
    let decoder = try VP9Decoder()
    let picture = try #require(try decoder.decode(frame.data))
    #expect(desktop.meanSquareError(picture) < 60)
  }

  @Test func `nobody is watching, nothing is coded`() throws {
    var settings = Self.settings(.full)
    settings.isActive = false
    var stage = EncodeStage(settings: settings, makeEncoder: Self.vp9)
    stage.take(try Desktop(size: Self.size).frame(damage: nil, at: .zero), now: .zero)
    stage.recode(chroma: .quarter, by: Self.vp8)
    let coded = stage.serve(now: .zero + .seconds(Int64(1)))
    let isPrepared = stage.isPrepared
    #expect(coded == nil && isPrepared)
  }
}
