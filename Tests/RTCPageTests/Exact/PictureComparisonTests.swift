import RTCMedia
import RTCPage
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

  /// Widths beyond 64 blocks, that end within one, and rows that are apart by more than their pixels.
  @Test(arguments: [
    PixelSize(width: 1, height: 1), PixelSize(width: 15, height: 33), PixelSize(width: 16, height: 16),
    PixelSize(width: 97, height: 50), PixelSize(width: 1024, height: 17), PixelSize(width: 1040, height: 31),
    PixelSize(width: 2063, height: 40),
  ]) func `blocks differ where a pixel does, whatever the size and the strides`(_ size: PixelSize) throws {
    var state: UInt64 = 5
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    for _ in 0..<40 {
      let old = Rows(size: size, stride: size.width * 4 + 4 * random(20))
      let new = Rows(size: size, stride: size.width * 4 + 4 * random(20))
      var expected = BlockSet(size)
      for _ in 0..<random(12) {
        let (x, y, byte) = (random(size.width), random(size.height), random(4))
        new.bytes[y * new.stride + x * 4 + byte] ^= UInt8(1 << random(8))
      }
      for y in 0..<size.height {
        for x in 0..<size.width * 4 where x % 4 < 3 && old.bytes[y * old.stride + x] != new.bytes[y * new.stride + x] {
          expected.insert(column: x / 64, row: y / 16)
        }
      }
      let pictures = (old: try #require(old.buffer), new: try #require(new.buffer))
      #expect(PictureComparison.changes(from: pictures.old, to: pictures.new) == expected)
    }
  }
}

/// A grey picture whose rows are `stride` bytes apart; what is between them is of no picture.
private final class Rows: @unchecked Sendable {
  let size: PixelSize
  let stride: Int
  let bytes: UnsafeMutableBufferPointer<UInt8>

  init(size: PixelSize, stride: Int) {
    (self.size, self.stride) = (size, stride)
    bytes = .allocate(capacity: stride * (size.height - 1) + size.width * 4)
    for index in bytes.indices { bytes[index] = index % stride < size.width * 4 ? 100 : UInt8(stride & 255) }
  }

  deinit { bytes.deallocate() }

  var buffer: PixelBuffer? {
    PixelBuffer(
      format: .bgra, size: size, planes: [(UnsafeRawPointer(bytes.baseAddress!), stride)],
      release: { [self] in _ = self })
  }
}
