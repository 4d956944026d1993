import RTCCaptureFile
import RTCMedia
import Testing

/// VP9 from files becomes one shown picture a packet.
@Suite struct VP9RewriterTests {
  /// A key frame of profile 0, 320x180, shown.
  private static let keyFrame: [UInt8] = [0x82, 0x49, 0x83, 0x42, 0x20, 0x13, 0xF0, 0x0B, 0x30, 0]
  private static let hidden: [UInt8] = [0x84, 1]
  private static let shown: [UInt8] = [0x86, 2, 3]

  @Test func `a hidden frame waits for the next that is shown`() {
    var rewriter = VP9Rewriter()
    #expect(rewriter.rewrite(Self.hidden) == .hidden)
    let index: [UInt8] = [0xC1, 2, 3, 0xC1]
    #expect(rewriter.picture(Self.shown)?.data == Self.hidden + Self.shown + index)
    let whole = Self.hidden + Self.shown + index
    let picture = rewriter.picture(whole)
    #expect(picture?.data == whole)
    #expect(picture?.isKeyFrame == false)
  }

  @Test func `hidden frames are forgotten at a key frame, and do not pile up`() {
    var rewriter = VP9Rewriter()
    #expect(rewriter.rewrite(Self.hidden) == .hidden)
    #expect(rewriter.picture(Self.keyFrame)?.data == Self.keyFrame)
    let outcomes = (0..<20).map { _ in rewriter.rewrite(Self.hidden) }
    #expect(outcomes.contains(.malformed))
  }

  @Test(arguments: [[], [0xC0], [1, 0xC1, 9, 9, 0xC1], [0xFF]] as [[UInt8]]) func `what is no VP9 is refused`(
    packet: [UInt8]
  ) {
    var rewriter = VP9Rewriter()
    #expect(rewriter.rewrite(packet) == .malformed)
  }
}
