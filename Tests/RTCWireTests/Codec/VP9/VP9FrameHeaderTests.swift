import RTCPrimitives
import RTCWire
import Testing

@Suite struct VP9FrameHeaderTests {
  @Test func `a key frame says its size`() {
    // Profile 0, 320x180, shown.
    let header = parsing(wireBytes("82498342 2013f00b3000"), VP9FrameHeader.init(parsing:))
    #expect(header?.size == PixelSize(width: 320, height: 180))
    #expect(header?.isKeyFrame == true)
    #expect(parsing([0x88], VP9FrameHeader.init(parsing:))?.showsExistingFrame == true)
    #expect(parsing([0x02, 0, 0], VP9FrameHeader.init(parsing:)) == nil)
  }
}
