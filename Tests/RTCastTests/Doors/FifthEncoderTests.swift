import CodingKit
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCVideoCoding
import RTCast
import Testing

/// A codec that the library does not have: its context and its tables (`PlainContext`) are all that is added.
@Suite(.timeLimit(.minutes(1))) struct FifthEncoderTests {
  @Test func `a broadcast is coded by a fifth encoder, and a decoder reads the exact picture`() async throws {
    var codecs = CodecRegistry()
    codecs.register(.av1, library: "plain 1.0") { settings throws(VideoEncoderError) in
      try BlockEncoder<PlainContext>(settings)
    }
    var options = Broadcast.Options()
    (options.codec, options.sendsExactPixels) = (.av1, false)
    let (source, sent) = (HandCapturer(), SentFrames())
    let broadcast = Broadcast(source, options: options, peers: try PeerLoop(), codecs: codecs)
    broadcast.add(sent)
    try await broadcast.start()
    source.show(200, at: .zero)
    source.show(20, at: .zero + .seconds(1))
    await broadcast.stop()
    var decoder = PlainDecoder()
    let pictures = sent.video.compactMap { decoder.decode($0.data) }
    #expect(pictures.count == sent.video.count && pictures.count >= 2)
    #expect(sent.video.first?.isKeyFrame == true && sent.video.dropFirst().first?.isKeyFrame == false)
    // BT.601, limited range.
    for (picture, luma) in zip(pictures, [UInt8(188), 33]) {
      #expect(picture.size == PixelSize(width: 64, height: 48))
      #expect(picture.planes[0].allSatisfy { abs(Int($0) - Int(luma)) <= 3 })
    }
  }
}
