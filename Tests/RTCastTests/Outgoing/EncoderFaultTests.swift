import RTCMedia
import RTCPrimitives
import RTCast
import Testing

/// An encoder that codes each picture as one byte, with a given quantizer and for sizes up to a limit.
private final class StatedEncoder: VideoEncoder {
  let codec: VideoCodec
  private(set) var settings: VideoEncoderSettings
  private(set) var picture: InputPicture
  private let quantizer: Int
  private let widest: Int
  private var count: UInt64 = 0

  init(_ codec: VideoCodec, _ settings: VideoEncoderSettings, quantizer: Int, widest: Int = .max) {
    (self.codec, self.settings, self.quantizer, self.widest) = (codec, settings, quantizer, widest)
    picture = InputPicture(size: settings.size)
  }

  func reconfigure(_ new: VideoEncoderSettings) throws(VideoEncoderError) {
    guard new.size.width <= widest else { throw .unsupportedSize(new.size) }
    if new.size != settings.size { picture = InputPicture(size: new.size) }
    settings = new
  }

  func setTargetBitrate(_ rate: BitRate) { settings.targetBitrate = rate }

  func encode(_ job: EncodeJob) -> EncodedFrame? {
    defer { count += 1 }
    return EncodedFrame(
      codec: codec, data: [UInt8(truncatingIfNeeded: settings.size.width)], isKeyFrame: job.keyFrame || count == 0,
      size: settings.size, captureTime: job.captureTime, encodedTime: job.now, quantizer: quantizer,
      rotation: job.rotation, contentHint: settings.contentHint, number: count)
  }

  func refinementTime(now: Timestamp) -> Timestamp? { nil }
  func refine(now: Timestamp) -> EncodedFrame? { nil }
}

/// The stage of an encoder that is coarse, that cannot go on, or whose pictures cannot be read.
@Suite struct EncoderFaultTests {
  private let size = PixelSize(width: 64, height: 48)

  private func controls(_ settings: EncodingSettings) -> EncoderControls {
    var controls = EncoderControls(settings)
    controls.isActive = true
    return controls
  }

  /// Whether a stage that codes with `quantizer` reports that its pictures are coarse.
  private func isCoarse(_ codec: VideoCodec, _ quantizer: Int) throws -> Bool {
    let settings = EncodingSettings()
    var stage = EncodeStage(settings: settings) { wanted throws(VideoEncoderError) in
      StatedEncoder(codec, wanted, quantizer: quantizer)
    }
    stage.apply(controls(settings))
    var (now, desktop, isCoarse) = (Timestamp.zero, Desktop(size: size), false)
    for number in 0..<100 {
      desktop.draw(PixelRect(x: 0, y: 0, width: 16, height: 16), UInt8(number))
      stage.take(try desktop.frame(damage: nil, at: now), now: now)
      _ = stage.encode(now: now)
      for case .limited(let limitation?) in stage.takeEvents() { isCoarse = limitation.isCoarse }
      now = now + .milliseconds(50)
    }
    return isCoarse
  }

  @Test(arguments: [(VideoCodec.vp8, 127), (.vp9, 63), (.av1, 63), (.h264, 51)])
  func `a picture is coarse from the same share of each codec's range`(codec: VideoCodec, coarsest: Int) throws {
    #expect(try isCoarse(codec, coarsest))
    #expect(try isCoarse(codec, coarsest * 88 / 100))
    #expect(try !isCoarse(codec, coarsest * 80 / 100))
  }

  @Test func `an encoder that cannot go on with another size is replaced by one that can`() throws {
    let settings = EncodingSettings()
    var stage = EncodeStage(settings: settings) { wanted throws(VideoEncoderError) in
      let isSmall = wanted.size.width <= 64
      return StatedEncoder(.av1, wanted, quantizer: isSmall ? 1 : 2, widest: isSmall ? 64 : .max)
    }
    stage.apply(controls(settings))
    var frames: [EncodedFrame] = []
    for (number, width) in [64, 128, 128].enumerated() {
      let now = Timestamp.zero + .seconds(Int64(number))
      var desktop = Desktop(size: PixelSize(width: width, height: 48))
      desktop.draw(PixelRect(x: 0, y: 0, width: 16, height: 16), UInt8(number))
      stage.take(try desktop.frame(damage: nil, at: now), now: now)
      frames += [stage.encode(now: now)].compactMap(\.self)
    }
    #expect(frames.map(\.quantizer) == [1, 2, 2] && frames.map(\.isKeyFrame) == [true, true, false])
    for case .encoderFailed(let error) in stage.takeEvents() { Issue.record("\(error)") }
  }

  @Test func `a picture that only the graphics driver can read is reported with the reason`() throws {
    let settings = EncodingSettings()
    var stage = EncodeStage(settings: settings) { wanted throws(VideoEncoderError) in
      StatedEncoder(.av1, wanted, quantizer: 1)
    }
    stage.apply(controls(settings))
    let tiled = try DMABuffer(
      descriptors: [-1], fourCC: 0x3432_5258, modifier: 5, size: size, planes: [.init(offset: 0, stride: 256)])
    stage.take(
      VideoFrame(buffer: PixelBuffer(tiled) {}, captureTime: .zero, colorSpace: .sRGB), now: .zero)
    #expect(stage.encode(now: .zero) == nil)
    var reasons: [DMABufferError] = []
    for case .pictureUnreadable(let error) in stage.takeEvents() { reasons.append(error) }
    #expect(reasons == [.notLinear(modifier: 5)])
  }
}
