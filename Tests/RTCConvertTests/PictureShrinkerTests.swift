import RTCConvert
import RTCMedia
import RTCPrimitives
import Testing

/// Small pictures of large ones.
@Suite struct PictureShrinkerTests {
  @Test(arguments: [
    (1_920, 1_080, 320, 320, 180), (100, 50, 320, 100, 50), (320, 180, 320, 320, 180), (5_000, 1, 320, 320, 1),
    (1, 5_000, 320, 1, 5_000), (321, 200, 320, 320, 199), (640, 480, 0, 640, 480),
  ]) func `the shape stays, and nothing grows`(_ given: (Int, Int, Int, Int, Int)) {
    let size = PictureShrinker.size(of: PixelSize(width: given.0, height: given.1), width: given.2)
    #expect(size == PixelSize(width: given.3, height: given.4))
  }

  /// The left half is black, the right half white.
  private func halves(_ format: PixelFormat, _ size: PixelSize) throws -> PixelBuffer {
    try #require(
      PixelBuffer.allocate(format: format, size: size) { plane, bytes, stride in
        let extent = format.planeExtent(plane, of: size)
        for row in 0..<extent.rows {
          for place in 0..<extent.rowBytes {
            let isRight = place >= extent.rowBytes / 2
            let value: UInt8 = format.planeCount == 1 ? (isRight ? 255 : 0) : plane > 0 ? 128 : isRight ? 235 : 16
            bytes[row * stride + place] = value
          }
        }
      })
  }

  @Test(
    arguments: [PixelFormat.i420, .i444, .nv12, .bgra, .rgba],
    [PixelSize(width: 640, height: 361), PixelSize(width: 401, height: 7)])
  func `each format becomes packed pixels of the same look`(format: PixelFormat, size: PixelSize) throws {
    var shrinker = PictureShrinker()
    let frame = VideoFrame(buffer: try halves(format, size), captureTime: .zero, colorSpace: .bt601Limited)
    let small = try shrinker.shrink(frame, width: 64)
    #expect(small.format == .bgra && small.size == PictureShrinker.size(of: size, width: 64))
    let (bytes, stride) = (small.bytes(ofPlane: 0), small.stride(ofPlane: 0))
    for row in 0..<small.size.height {
      #expect(bytes[row * stride + 4] < 8 && bytes[row * stride + 62 * 4] > 247)
    }
  }
}
