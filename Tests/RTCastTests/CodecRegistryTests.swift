import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCast
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
}
