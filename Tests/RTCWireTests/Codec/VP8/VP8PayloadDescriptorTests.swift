import RTCPrimitives
import RTCWire
import Testing

@Suite struct VP8PayloadDescriptorTests {
  private func parsed(_ bytes: [UInt8]) -> (descriptor: VP8PayloadDescriptor, size: Int)? {
    var reader = ByteReader(bytes.span)
    guard let descriptor = VP8PayloadDescriptor(parsing: &reader) else { return nil }
    return (descriptor, reader.offset)
  }

  @Test func `descriptors of ffmpeg parse and come out again`() throws {
    let first = wireBytes("90808000 b04300")
    let (descriptor, size) = try #require(parsed(first))
    #expect(descriptor == VP8PayloadDescriptor(startsPartition: true, pictureID: VP8PictureID(0)))
    #expect(descriptor.startsFrame && size == 4 && descriptor.size == 4)
    #expect(writtenBytes { descriptor.write(into: &$0) } == Array(first[..<4]))
    #expect(try #require(parsed(wireBytes("80808001"))).descriptor.startsFrame == false)
  }

  @Test func `all fields make the round trip`() throws {
    let descriptor = VP8PayloadDescriptor(
      startsPartition: true, partition: 5, isNonReference: true, pictureID: VP8PictureID(0x1234), baseLayerIndex: 0xAB,
      temporalLayer: .init(index: 2, isSync: true), keyFrameIndex: 17)
    let bytes = writtenBytes { descriptor.write(into: &$0) }
    #expect(bytes == wireBytes("b5 f0 9234 ab b1"))
    #expect(bytes.count == VP8PayloadDescriptor.maximumSize && bytes.count == descriptor.size)
    #expect(try #require(parsed(bytes)).descriptor == descriptor)
    #expect(!descriptor.startsFrame)
  }

  @Test func `every combination of fields makes the round trip`() throws {
    for bits in 0..<16 {
      let descriptor = VP8PayloadDescriptor(
        startsPartition: false, pictureID: bits & 8 != 0 ? VP8PictureID(0x7FFF) : nil,
        baseLayerIndex: bits & 4 != 0 ? 255 : nil, temporalLayer: bits & 2 != 0 ? .init(index: 3, isSync: false) : nil,
        keyFrameIndex: bits & 1 != 0 ? 31 : nil)
      let bytes = writtenBytes { descriptor.write(into: &$0) }
      let (again, size) = try #require(parsed(bytes))
      #expect(again == descriptor && size == bytes.count && size == descriptor.size)
    }
  }

  @Test func `a picture identifier of seven bits is read`() throws {
    let (descriptor, size) = try #require(parsed(wireBytes("90807f 00")))
    #expect(descriptor.pictureID == VP8PictureID(0x7F) && size == 3)
    #expect(VP8PictureID(0x7FFF).next == VP8PictureID(0))
  }

  @Test(arguments: ["", "80", "8080", "808080", "8040", "8020", "80f0 9234 ab"])
  func `a payload that ends within is refused`(dump: String) {
    #expect(parsed(wireBytes(dump)) == nil)
  }
}
