import CWebP
import RTCCodecWebP
import RTCMedia
import RTCPrimitives
import Testing

@Suite struct `WebP of rectangles` {
  private static let size = PixelSize(width: 211, height: 97)

  /// Text-like runs on grounds of few colours, and noise at the right; the fourth byte is noise everywhere.
  private static func picture() throws -> PixelBuffer {
    var random = SeededGenerator(seed: 5)
    return try #require(
      PixelBuffer.allocate(format: .bgra, size: size) { _, bytes, stride in
        for y in 0..<size.height {
          for x in 0..<size.width {
            for channel in 0..<3 {
              bytes[y * stride + x * 4 + channel] =
                x > 150
                ? UInt8.random(in: 0...255, using: &random) : UInt8((y / 20 * 40 + (x * 7 + y) % 11 / 8 * 200) & 255)
            }
            bytes[y * stride + x * 4 + 3] = UInt8.random(in: 0...255, using: &random)
          }
        }
      })
  }

  private static let rects = [
    PixelRect(size), PixelRect(x: 0, y: 0, width: 1, height: 1), PixelRect(x: 210, y: 96, width: 1, height: 1),
    PixelRect(x: 16, y: 32, width: 160, height: 48), PixelRect(x: 140, y: 1, width: 71, height: 96),
  ]

  @Test(arguments: [WebPEffort.fast, .better], rects) func `every pixel comes back`(
    _ effort: WebPEffort, _ rect: PixelRect
  ) throws {
    let picture = try Self.picture()
    let webP = try WebPEncoder().encode(picture, rect, effort)
    let decoded = try Self.decode(webP)
    #expect(decoded.size == PixelSize(width: rect.width, height: rect.height))
    let (bytes, stride) = (picture.bytes(ofPlane: 0), picture.stride(ofPlane: 0))
    for y in 0..<rect.height {
      for x in 0..<rect.width {
        let (mine, theirs) = ((rect.y + y) * stride + (rect.x + x) * 4, (y * rect.width + x) * 3)
        let isEqual = (0..<3).allSatisfy { bytes[mine + $0] == decoded.bgr[theirs + $0] }
        try #require(isEqual, "the pixel at \(x), \(y)")
      }
    }
  }

  @Test func `a photograph is smaller when it need not be exact`() throws {
    let picture = try Self.picture()
    let (whole, encoder) = (PixelRect(Self.size), WebPEncoder())
    #expect(try encoder.encode(picture, whole, .lossy).count < encoder.encode(picture, whole, .fast).count)
  }

  @Test(arguments: [
    PixelRect(x: 0, y: 0, width: 0, height: 5), PixelRect(x: -1, y: 0, width: 5, height: 5),
    PixelRect(x: 200, y: 0, width: 12, height: 5), PixelRect(x: 0, y: 90, width: 5, height: 8),
  ]) func `what is not in the picture is refused`(_ rect: PixelRect) throws {
    let picture = try Self.picture()
    #expect(throws: WebPError.unusablePicture) { try WebPEncoder().encode(picture, rect, .fast) }
  }

  @Test func `pixels in another order are refused`() throws {
    let other = try #require(PixelBuffer.allocate(format: .rgba, size: Self.size) { _, _, _ in })
    #expect(throws: WebPError.unusablePicture) { try WebPEncoder().encode(other, PixelRect(Self.size), .fast) }
  }

  private static func decode(_ webP: [UInt8]) throws -> (size: PixelSize, bgr: [UInt8]) {
    var (width, height): (Int32, Int32) = (0, 0)
    let pixels = try #require(webP.withUnsafeBufferPointer { WebPDecodeBGR($0.baseAddress, $0.count, &width, &height) })
    defer { WebPFree(pixels) }
    let count = Int(width * height) * 3
    return (PixelSize(width: Int(width), height: Int(height)), Array(UnsafeBufferPointer(start: pixels, count: count)))
  }
}
