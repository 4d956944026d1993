import RTCWire
import Testing

@Suite struct VP8FrameHeaderTests {
  @Test func `a key frame of libvpx tells its size`() throws {
    let header = try #require(parsing(wireBytes("b043009d012ab0009000000708"), VP8FrameHeader.init(parsing:)))
    #expect(header.isKeyFrame && header.isShown && header.firstPartitionSize == 541)
    #expect(header.keyFrameSize?.width == 176 && header.keyFrameSize?.height == 144)
  }

  @Test func `a frame between is no key frame`() throws {
    let header = try #require(parsing(wireBytes("f10c00041010001e"), VP8FrameHeader.init(parsing:)))
    #expect(!header.isKeyFrame && header.isShown && header.firstPartitionSize == 103)
  }

  @Test func `scale bits are no part of the size`() throws {
    let header = try #require(parsing(wireBytes("b043009d012a ffff 0140"), VP8FrameHeader.init(parsing:)))
    #expect(header.keyFrameSize?.width == 16_383 && header.keyFrameSize?.height == 1)
  }

  @Test(arguments: ["", "b043", "b04300", "b043009d012ab00090", "b043009d012bb0009000"])
  func `a key frame cut short or without its start code is refused`(dump: String) {
    #expect(parsing(wireBytes(dump), VP8FrameHeader.init(parsing:)) == nil)
  }
}
