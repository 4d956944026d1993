import RTCCaptureFile
import RTCMedia
import Testing

/// AV1 from files becomes OBUs that begin with a sequence header where decoding can begin.
@Suite struct AV1RewriterTests {
  /// As libaom writes it, for 322x182.
  private static let header = hex("0a0d200000043d06d4daf92021a004")
  private static let keyFrame: [UInt8] = [0x32, 2, 0x10, 7]
  private static let otherFrame: [UInt8] = [0x32, 2, 0x30, 7]

  @Test func `sequence headers say size and depth`() {
    let rewriter = AV1Rewriter(([0x81, 0, 0, 0] + Self.header))
    #expect(rewriter.sequenceHeader?.size == PixelSize(width: 322, height: 182))
    #expect(rewriter.sequenceHeader?.bitDepth == 8)
    let deep = AV1Rewriter(hex("0a0b000000043d06d4daf94040"))
    #expect(deep.sequenceHeader?.bitDepth == 10)
  }

  @Test func `delimiters and padding go, and a key frame gets the sequence header it lacks`() {
    var rewriter = AV1Rewriter(Self.header)
    let key = rewriter.rewrite(([0x12, 0] + Self.keyFrame + [0x7A, 1, 0x80]))
    #expect(key?.data == Self.header + Self.keyFrame)
    #expect(key?.isKeyFrame == true)
    #expect(rewriter.rewrite((Self.header + Self.keyFrame))?.data == Self.header + Self.keyFrame)
    let other = rewriter.rewrite(Self.otherFrame)
    #expect(other?.data == Self.otherFrame)
    #expect(other?.isKeyFrame == false)
  }

  @Test func `a last unit without a size gets one`() {
    var rewriter = AV1Rewriter(Self.header)
    #expect(rewriter.rewrite([0x30, 0x30, 7])?.data == Self.otherFrame)
  }

  @Test(arguments: [[0x80], [0x36], [0x32, 9, 1], [0x32, 0xFF, 0xFF], [0x12, 0], []] as [[UInt8]])
  func `a packet without a whole frame is refused`(packet: [UInt8]) {
    var rewriter = AV1Rewriter(Self.header)
    #expect(rewriter.rewrite(packet) == nil)
  }
}
