import RTCPrimitives
import RTCWire
import Testing

@Suite struct VP9PayloadDescriptorTests {
  private func parsed(_ bytes: [UInt8]) -> (descriptor: VP9PayloadDescriptor, size: Int)? {
    var reader = ByteReader(bytes.span)
    guard let descriptor = VP9PayloadDescriptor(parsing: &reader) else { return nil }
    return (descriptor, reader.offset)
  }

  @Test func `descriptors of ffmpeg parse and come out again`() throws {
    for (byte, starts, ends) in [(0x08, true, false), (0x00, false, false), (0x04, false, true)] {
      let (descriptor, size) = try #require(parsed([UInt8(byte), 0x82]))
      #expect(descriptor.startsFrame == starts && descriptor.endsFrame == ends && size == 1)
      #expect(writtenBytes { descriptor.write(into: &$0) } == [UInt8(byte)])
    }
  }

  @Test func `a key frame says its number and its size`() throws {
    var descriptor = VP9PayloadDescriptor(
      pictureID: VP9PictureID(0x1234), isInterPredicted: false, startsFrame: true, endsFrame: false)
    descriptor.structure = VP9ScalabilityStructure(size: .init(width: 1920, height: 1080))
    let bytes = writtenBytes { descriptor.write(into: &$0) }
    #expect(bytes == wireBytes("8a 9234 10 0780 0438") && bytes.count == descriptor.size)
    #expect(try #require(parsed(bytes)).descriptor == descriptor)
    #expect(descriptor.startsKeyFrame)
  }

  @Test(arguments: [
    "c87f",  // seven bits of picture number
    "e8 8001 5a 07",  // a layer, not in flexible mode
    "f9 8001 25 03 05 06",  // a layer and three references in flexible mode
    "0a 38 0140 00b4 0280 0168 02 10 38 01 7f",  // two layers and a group of pictures
    "02 e0", "90 8001",
  ]) func `every field makes the round trip`(dump: String) throws {
    let (descriptor, size) = try #require(parsed(wireBytes(dump)))
    #expect(size == wireBytes(dump).count)
    let bytes = writtenBytes { descriptor.write(into: &$0) }
    #expect(bytes.count == descriptor.size)
    let (again, length) = try #require(parsed(bytes))
    #expect(again == descriptor && length == bytes.count)
  }

  @Test func `fields are what they are said to be`() throws {
    let flexible = try #require(parsed(wireBytes("f9 8001 25 03 05 06"))).descriptor
    #expect(flexible.isFlexible && flexible.references == [1, 2, 3] && flexible.isNotReference)
    let layer = try #require(flexible.layer)
    #expect(layer.temporal == 1 && layer.spatial == 2 && layer.isInterLayerPredicted && !layer.isSwitchingUpPoint)
    #expect(!flexible.startsPicture)
    let layers = try #require(parsed(wireBytes("0a 38 0140 00b4 0280 0168 02 10 38 01 7f"))).descriptor
    #expect(layers.structure?.sizes.map(\.width) == [320, 640])
    #expect(layers.structure?.pictureGroup?.map(\.references.count) == [0, 2])
  }

  @Test(arguments: [
    "", "80", "8080", "e88001", "e8800100", "d88001", "d88001 03", "d88001 03 05 07", "02", "0210 0140",
  ]) func `a payload that ends within, or has a fourth reference, is refused`(dump: String) {
    #expect(parsed(wireBytes(dump)) == nil)
  }
}
