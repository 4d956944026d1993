import FeatureKit
import RTCConvert
import RTCMedia
import RTCPrimitives
import Testing

@Suite struct PartialConversionTests {
  private func noise(_ x: Int, _ y: Int) -> (r: UInt8, g: UInt8, b: UInt8) {
    let value = (x &* 7919 &+ y &* 104_729) &* 2_654_435_761
    return (UInt8(value >> 8 & 255), UInt8(value >> 16 & 255), UInt8(value >> 24 & 255))
  }

  @Test(arguments: [PixelSize(width: 128, height: 72), PixelSize(width: 131, height: 77)], [PixelFormat.bgra, .rgba])
  func `many parts make the same as the whole`(size: PixelSize, format: PixelFormat) throws {
    let frame = try packedFrame(format, size, color: noise)
    try expectPartsEqualWhole(frame, target: size)
  }

  @Test(arguments: [
    PixelSize(width: 64, height: 36), PixelSize(width: 96, height: 54), PixelSize(width: 101, height: 59),
  ]) func `scaled parts make the same as the scaled whole`(target: PixelSize) throws {
    let frame = try packedFrame(.bgra, PixelSize(width: 128, height: 72), color: noise)
    try expectPartsEqualWhole(frame, target: target)
  }

  private func expectPartsEqualWhole(_ frame: VideoFrame, target: PixelSize) throws {
    let whole = InputPicture(size: target)
    let parts = InputPicture(size: target)
    var converter = FrameConverter()
    #expect(try converter.convert(frame, rects: nil, into: whole) == nil)
    // Uneven on purpose: edges on odd coordinates.
    for y in stride(from: 0, to: frame.size.height, by: 13) {
      for x in stride(from: 0, to: frame.size.width, by: 37) {
        let rect = PixelRect(x: x, y: y, width: 37, height: 13).intersection(PixelRect(frame.size))
        _ = try converter.convert(frame, rects: [rect], into: parts)
      }
    }
    #expect(planes(whole) == planes(parts))
  }

  @Test(.feature("S4.15")) func `only the damage is written`() throws {
    let size = PixelSize(width: 64, height: 64)
    let picture = InputPicture(size: size)
    let before = planes(picture)
    var converter = FrameConverter()
    let frame = try packedFrame(.bgra, size) { _, _ in (255, 255, 255) }
    let written = try converter.convert(frame, rects: [PixelRect(x: 11, y: 21, width: 3, height: 3)], into: picture)
    #expect(written == [PixelRect(x: 10, y: 20, width: 4, height: 4)])
    let after = planes(picture)
    let differing = after[0].indices.filter { after[0][$0] != before[0][$0] }
    #expect(differing.count == 16)
    #expect(try converter.convert(frame, rects: [], into: picture) == [])
  }

  @Test(arguments: [PixelFormat.i420, .nv12, .i444]) func `planar frames keep their values`(format: PixelFormat) throws
  {
    let size = PixelSize(width: 63, height: 41)
    let buffer = try #require(
      PixelBuffer.allocate(format: format, size: size) { plane, bytes, _ in
        for index in 0..<bytes.count {
          bytes[index] = plane == 0 ? 90 : format == .nv12 && index % 2 == 1 ? 200 : plane == 2 ? 200 : 60
        }
      })
    let picture = InputPicture(size: size)
    var converter = FrameConverter()
    let frame = VideoFrame(buffer: buffer, captureTime: .zero, colorSpace: .bt601Limited)
    _ = try converter.convert(frame, rects: nil, into: picture)
    let values = planes(picture)
    #expect(values[0].allSatisfy { $0 == 90 })
    #expect(values[1].allSatisfy { $0 == 60 })
    #expect(values[2].allSatisfy { $0 == 200 })
    #expect(converter.extraPasses == 0)
  }
}
