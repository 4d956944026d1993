import RTCExact
import RTCMedia
import Testing

@Suite struct `What differs between two pictures` {
  private let size = PixelSize(width: 100, height: 50)

  private func picture(_ size: PixelSize? = nil, _ pixels: [(x: Int, y: Int, byte: Int)] = []) throws -> PixelBuffer {
    try #require(
      PixelBuffer.allocate(format: .bgra, size: size ?? self.size) { _, bytes, stride in
        for pixel in pixels { bytes[pixel.y * stride + pixel.x * 4 + pixel.byte] = 9 }
      })
  }

  @Test(arguments: [(0, 0), (99, 49), (15, 15), (16, 16), (96, 48)]) func `one sample is one block`(
    _ x: Int, _ y: Int
  ) throws {
    let (old, new) = (try picture(), try picture(nil, [(x, y, 2)]))
    let changed = PictureComparison.changes(from: old, to: new)
    #expect(changed.count == 1 && changed.contains(column: x / 16, row: y / 16))
  }

  @Test func `the fourth byte of a pixel says nothing`() throws {
    #expect(PictureComparison.changes(from: try picture(), to: try picture(nil, [(5, 5, 3)])).isEmpty)
  }

  @Test func `without a picture of the same size everything is new`() throws {
    let new = try picture()
    let other = try picture(PixelSize(width: 101, height: 50))
    for old in [nil, other] {
      let changed = PictureComparison.changes(from: old, to: new)
      #expect(changed.missing(in: changed.whole) == nil)
    }
  }
}
