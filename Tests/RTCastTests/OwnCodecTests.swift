import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCast
import Synchronization
import Testing

/// Additions of an application: an encoder by one entry of the registry, a capturer by one value.
@Suite(.timeLimit(.minutes(1))) struct OwnCodecTests {
  @Test func `an encoder of one's own is registered and used, nothing else is touched`() async throws {
    var codecs = CodecRegistry()
    codecs.register(.av1, library: "Mean 1.0") { settings throws(VideoEncoderError) in MeanEncoder(settings) }
    var options = Broadcast.Options()
    options.codec = .av1
    let (source, sent) = (HandCapturer(), SentFrames())
    let broadcast = Broadcast(source, options: options, peers: try PeerLoop(), codecs: codecs)
    broadcast.add(sent)
    try await broadcast.start()
    source.show(200, at: .zero)
    source.show(20, at: .zero + .seconds(1))
    // BT.601, limited range.
    #expect(sent.video.map(\.data) == [[188], [33]])
    #expect(sent.video.map(\.codec) == [.av1, .av1] && sent.video.map(\.isKeyFrame) == [true, false])
    #expect(await broadcast.statistics().codec == .av1)
    await broadcast.stop()
  }

  @Test func `a capturer of one's own is handed over and used, nothing else is touched`() async throws {
    let sent = SentFrames()
    let broadcast = Broadcast(OnePicture(), peers: try PeerLoop())
    broadcast.add(sent)
    try await broadcast.start()
    #expect(sent.video.first?.size == PixelSize(width: 32, height: 16) && sent.video.first?.isKeyFrame == true)
    await broadcast.stop()
  }
}

/// Delivers one grey picture, on whichever thread starts it.
private final class OnePicture: VideoCapturer {
  let supportedFormats = [VideoFormat(size: PixelSize(width: 32, height: 16), frameRates: 0...1, pixelFormat: .bgra)]
  let isScreencast = true

  func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    consumer.captureDidStart(.success(supportedFormats[0]))
    let pixels = PixelBuffer.allocate(format: .bgra, size: supportedFormats[0].size) { _, bytes, _ in
      for index in bytes.indices { bytes[index] = 128 }
    }
    consumer.consume(VideoFrame(buffer: pixels!, captureTime: .zero, colorSpace: .sRGB))
  }

  func stopCapture() {}
}

/// Codes a picture as the luma of its first pixel.
private final class MeanEncoder: VideoEncoder {
  let codec = VideoCodec.av1
  private(set) var settings: VideoEncoderSettings
  private(set) var picture: InputPicture
  private var count: UInt64 = 0

  init(_ settings: VideoEncoderSettings) {
    self.settings = settings
    picture = InputPicture(size: settings.size)
  }

  func reconfigure(_ new: VideoEncoderSettings) {
    if new.size != settings.size { picture = InputPicture(size: new.size) }
    settings = new
  }

  func setTargetBitrate(_ rate: BitRate) { settings.targetBitrate = rate }

  func encode(_ job: EncodeJob) -> EncodedFrame? {
    defer { count += 1 }
    return EncodedFrame(
      codec: codec, data: [picture.withPlane(0) { $0[0] }], isKeyFrame: job.keyFrame || count == 0,
      size: settings.size, captureTime: job.captureTime, encodedTime: job.now, quantizer: 0, rotation: job.rotation,
      contentHint: settings.contentHint, number: count)
  }

  func refinementTime(now: Timestamp) -> Timestamp? { nil }
  func refine(now: Timestamp) -> EncodedFrame? { nil }
}
