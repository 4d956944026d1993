import RTCCodecVPX
import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCast
import Synchronization
import Testing

/// Which codec and chroma a broadcast comes to.
@Suite(.timeLimit(.minutes(1))) struct CodecRegistryTests {
  @Test func `what is built in is VP8 and VP9, full chroma by VP9`() {
    let codecs = CodecRegistry.standard
    #expect(codecs.codecs.prefix(2) == [.vp8, .vp9])
    #expect(codecs.codecs(with: .quarter).prefix(2) == [.vp8, .vp9])
    #expect(!codecs.codecs(with: .full).contains(.vp8) && codecs.codecs(with: .full).first == .vp9)
    #expect(codecs.library(for: .vp9)?.hasPrefix("libvpx") == true)
  }

  @Test(arguments: [
    (VideoCodec.vp9, ChromaSampling.full, VideoCodec.vp9, ChromaSampling.full), (.vp9, .quarter, .vp9, .quarter),
    (.vp8, .full, .vp8, .quarter),
  ]) func `a broadcast is coded as asked, as far as the codec goes`(
    codec: VideoCodec, chroma: ChromaSampling, coded: VideoCodec, sampled: ChromaSampling
  ) async throws {
    var options = Broadcast.Options()
    (options.codec, options.chroma, options.sendsExactPixels) = (codec, chroma, false)
    let (source, sent) = (HandCapturer(), SentFrames())
    let broadcast = Broadcast(source, options: options, peers: try PeerLoop())
    broadcast.add(sent)
    try await broadcast.start()
    source.show(200, at: .zero)
    #expect(sent.video.first?.codec == coded && sent.video.first?.chroma == sampled)
    await broadcast.stop()
  }

  /// The encoders that were asked for a picture, by name.
  private final class Asked: Sendable {
    private let names = Mutex<[String]>([])
    var all: [String] { names.withLock { $0 } }

    func factory(
      _ name: String, refusing error: VideoEncoderError? = nil
    ) -> VideoEncoderFactory {
      { settings throws(VideoEncoderError) in
        self.names.withLock { $0.append(name) }
        if let error { throw error }
        return try VP8Encoder(settings)
      }
    }
  }

  private func cast(by codecs: CodecRegistry) async throws -> (frames: [EncodedFrame], warnings: [String]) {
    var options = Broadcast.Options()
    (options.codec, options.sendsExactPixels) = (.vp8, false)
    let (source, sent) = (HandCapturer(), SentFrames())
    let broadcast = Broadcast(source, options: options, peers: try PeerLoop(), codecs: codecs)
    broadcast.add(sent)
    try await broadcast.start()
    source.show(200, at: .zero)
    await broadcast.stop()
    var warnings: [String] = []
    for await event in broadcast.events { if case .encoderFailed(let sentence) = event { warnings.append(sentence) } }
    return (sent.video, warnings)
  }

  @Test func `the first encoder that supports the settings and can be made is used`() async throws {
    let asked = Asked()
    var codecs = CodecRegistry()
    codecs.register(.vp8, library: "software 1", factory: asked.factory("software"))
    codecs.register(
      .vp8, library: "busy chip 2", place: .first,
      factory: asked.factory("busy", refusing: .library(status: -16, message: "all engines are in use")))
    codecs.register(
      .vp8, library: "small chip 3", place: .first, supports: { $0.size.width <= 32 }, factory: asked.factory("small"))
    codecs.register(.vp8, library: "spare 4", place: .last, factory: asked.factory("spare"))
    #expect(codecs.library(for: .vp8) == "small chip 3, else busy chip 2, else software 1, else spare 4")
    let result = try await cast(by: codecs)
    #expect(Set(asked.all) == ["busy", "software"], "the first is too small, and the last is not needed")
    #expect(result.frames.first?.isKeyFrame == true && result.warnings.isEmpty)
  }

  @Test func `if no encoder can be used, the message names each and its reason`() async throws {
    let asked = Asked()
    var codecs = CodecRegistry()
    codecs.register(
      .vp8, library: "busy chip 2",
      factory: asked.factory("busy", refusing: .library(status: -16, message: "all engines are in use")))
    codecs.register(
      .vp8, library: "small chip 3", place: .last, supports: { _ in false }, factory: asked.factory("small"))
    let result = try await cast(by: codecs)
    #expect(result.frames.isEmpty)
    #expect(
      result.warnings.first
        == "No encoder of VP8 can be used: busy chip 2: all engines are in use (status -16); small chip 3: it does not "
        + "support the settings. Remove one of these causes, or choose another codec.")
  }
}
