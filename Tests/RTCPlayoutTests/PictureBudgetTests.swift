import RTCEngine
import RTCMedia
import RTCPlayout
import RTCPrimitives
import Testing

@Suite struct PictureBudgetTests {
  private let quad = PixelSize(width: 3_840, height: 2_160)

  /// A key frame for which a decoder of VP8 would have to reserve memory.
  private func keyFrame(_ size: PixelSize) -> ReceivedFrame {
    let bytes = [size.width, size.height].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    return ReceivedFrame(
      codec: .vp8, data: [0x10, 0, 0, 0x9D, 0x01, 0x2A] + bytes, isKeyFrame: true, timestamp: RTPTimestamp(0),
      received: .zero)
  }

  private final class Decoder: VideoDecoder {
    let codec = VideoCodec.vp8
    let colorSpace: ColorSpace? = nil
    nonisolated(unsafe) static var made = 0
    init() { Self.made += 1 }
    func decode(_ data: [UInt8]) throws(VideoDecoderError) -> PixelBuffer? { nil }
  }

  @Test func `B10: videos of one peer share a budget, and those of all the process's`() {
    let process = PictureBudget(pixels: 300)
    let peers = [PictureBudget(pixels: 200, within: process), PictureBudget(pixels: 200, within: process)]
    #expect(peers[0].change(from: 0, to: 150))
    #expect(!peers[0].change(from: 0, to: 51))
    #expect(peers[1].change(from: 0, to: 150))
    #expect(!peers[1].change(from: 0, to: 1), "the process has no more")
    #expect(peers[0].change(from: 150, to: 100) && peers[1].change(from: 0, to: 50))
    #expect(!peers[1].change(from: 50, to: 51))
    #expect(peers[0].change(from: 100, to: 0) && peers[1].change(from: 150, to: 150))
  }

  @Test func `B10: what a decoder has taken is free at its end`() {
    let budget = PictureBudget(pixels: quad.width * quad.height)
    do {
      let share = PictureShare(of: budget)
      #expect(share.take(quad) && share.take(PixelSize(width: 64, height: 48)) && share.take(quad))
      #expect(!PictureShare(of: budget).take(PixelSize(width: 1, height: 1)))
    }
    #expect(PictureShare(of: budget).take(quad))
  }

  @Test func `B10: no decoder is made for pictures beyond the budget, and it is said once`() {
    let budget = PictureBudget(pixels: 2 * quad.width * quad.height + 64 * 48)
    var (refused, outcomes) = (0, 0)
    var decoders = (0..<4).map { _ in
      FrameDecoder([.vp8: { () throws(VideoDecoderError) in Decoder() }], budget: budget) { refused += 1 }
    }
    for _ in 0..<3 {
      for index in decoders.indices {
        if case .refused = decoders[index].decode(keyFrame(quad), anew: true) { outcomes += 1 }
      }
    }
    #expect(Decoder.made == 6 && outcomes == 6 && refused == 2)
    // A smaller picture leaves room to others.
    _ = decoders[0].decode(keyFrame(PixelSize(width: 64, height: 48)), anew: false)
    if case .refused = decoders[2].decode(keyFrame(quad), anew: true) { Issue.record("there is room") }
  }

  @Test func `B10: each codec's size is known before it is decoded`() {
    #expect(keyFrame(quad).announcedSize == quad)
    let vp9 = ReceivedFrame(
      codec: .vp9, data: [0x82, 0x49, 0x83, 0x42, 0x00, 0xEF, 0xF0, 0x86, 0xF4, 0x00], isKeyFrame: true,
      timestamp: RTPTimestamp(0), received: .zero)
    #expect(vp9.announcedSize == quad)
  }
}
