import RTCMedia
import RTCPage
import RTCPrimitives
import Testing

@Suite struct `The hash of pixels` {
  private let size = PixelSize(width: 200, height: 70)
  private let hash = PixelHash(key: 0x0123_4567_89AB_CDEF)

  private func picture(_ pixels: [(x: Int, y: Int, byte: Int)] = []) throws -> PixelBuffer {
    try #require(
      PixelBuffer.allocate(format: .bgra, size: size) { _, bytes, stride in
        for pixel in pixels { bytes[pixel.y * stride + pixel.x * 4 + pixel.byte] ^= 1 }
      })
  }

  @Test func `each sample of the rectangle counts, and no other`() throws {
    let plain = try picture()
    // Its lines end within 16 bytes.
    let rect = PixelRect(x: 16, y: 3, width: 133, height: 64)
    let expected = hash.hash(rect, of: plain)
    var seen: Set<UInt64> = [expected]
    for y in [3, 40, 66] {
      for x in [16, 17, 18, 19, 80, 146, 147, 148] {
        for byte in 0..<3 { seen.insert(hash.hash(rect, of: try picture([(x, y, byte)]))) }
      }
    }
    #expect(seen.count == 1 + 3 * 8 * 3)
    for (x, y, byte) in [(15, 3, 0), (149, 3, 0), (16, 2, 0), (16, 67, 0), (20, 20, 3), (148, 20, 3)] {
      #expect(hash.hash(rect, of: try picture([(x, y, byte)])) == expected)
    }
  }

  @Test func `pixels that changed places, another size and another key are another hash`() throws {
    let rect = PixelRect(x: 0, y: 0, width: 128, height: 64)
    var seen: Set<UInt64> = []
    for x in 0..<128 { seen.insert(hash.hash(rect, of: try picture([(x, 9, 1)]))) }
    for y in 0..<64 where y != 9 { seen.insert(hash.hash(rect, of: try picture([(0, y, 1)]))) }
    #expect(seen.count == 128 + 63)
    let plain = try picture()
    for (width, height) in [(128, 64), (128, 32), (64, 64), (64, 128 / 2 - 1), (0, 0)] {
      seen.insert(hash.hash(PixelRect(x: 0, y: 0, width: width, height: height), of: plain))
    }
    seen.insert(PixelHash(key: 1).hash(rect, of: plain))
    #expect(seen.count == 128 + 63 + 6)
    #expect(hash.hash(PixelRect(x: 5, y: 2, width: 128, height: 64), of: plain) == hash.hash(rect, of: plain))
  }
}
