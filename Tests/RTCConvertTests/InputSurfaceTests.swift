import RTCConvert
import RTCMedia
import RTCPrimitives
import Testing

/// Memory that an encoder offers, as a graphics driver does: it can be accessed for a while only, and lies elsewhere each
/// time.
private final class Surface: InputSurface {
  private let format: PixelFormat
  private let size: PixelSize
  /// The picture as the encoder has it, without gaps.
  private(set) var planes: [[UInt8]]
  private var mapped: [UnsafeMutablePointer<UInt8>] = []
  private(set) var accesses = 0

  init(_ format: PixelFormat, _ size: PixelSize) {
    self.format = format
    self.size = size
    planes = (0..<format.planeCount).map {
      let extent = format.planeExtent($0, of: size)
      return Array(repeating: 0, count: extent.rowBytes * extent.rows)
    }
  }

  func stride(ofPlane index: Int) -> Int { 96 + index * 32 }

  func beginAccess() {
    #expect(mapped.isEmpty, "accesses are not nested")
    accesses += 1
    mapped = planes.indices.map { index in
      let (extent, stride) = (format.planeExtent(index, of: size), stride(ofPlane: index))
      let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: stride * extent.rows)
      memory.initialize(repeating: 0xEE, count: stride * extent.rows)
      for row in 0..<extent.rows {
        for x in 0..<extent.rowBytes { memory[row * stride + x] = planes[index][row * extent.rowBytes + x] }
      }
      return memory
    }
  }

  func endAccess() {
    for (index, memory) in mapped.enumerated() {
      let (extent, stride) = (format.planeExtent(index, of: size), stride(ofPlane: index))
      for row in 0..<extent.rows {
        for x in 0..<extent.rowBytes { planes[index][row * extent.rowBytes + x] = memory[row * stride + x] }
      }
      memory.deallocate()
    }
    mapped = []
  }

  func unsafeBase(ofPlane index: Int) -> UnsafeMutablePointer<UInt8> { mapped[index] }
}

/// An encoder may offer memory of its own for the pictures that it reads.
@Suite struct InputSurfaceTests {
  private let size = PixelSize(width: 34, height: 18)

  private func frame(damage: [PixelRect]? = nil, seed: Int) throws -> VideoFrame {
    try packedFrame(.bgra, size, damage: damage) { x, y in
      (UInt8((x * 7 + seed) % 256), UInt8((y * 11 + seed) % 256), UInt8((x * y + seed) % 256))
    }
  }

  @Test(arguments: [PixelFormat.i420, .nv12])
  func `frames are converted into a surface as into memory of the picture's own`(
    format: PixelFormat
  ) throws {
    let surface = Surface(format, size)
    let (lent, own) = (
      InputPicture(format: format, size: size, surface: surface), InputPicture(format: format, size: size)
    )
    var converter = FrameConverter()
    let part = PixelRect(x: 4, y: 2, width: 12, height: 8)
    for (rects, seed) in [(nil, 1), ([part], 90)] {
      let frame = try frame(damage: rects, seed: seed)
      #expect(
        try converter.convert(frame, rects: rects, into: lent) == converter.convert(frame, rects: rects, into: own))
      #expect(surface.planes == planes(own))
    }
    #expect(surface.accesses == 2)
    let film = try #require(
      PixelBuffer.allocate(format: .i420, size: size) { plane, bytes, _ in
        for index in bytes.indices { bytes[index] = UInt8((index * 3 + plane * 50) % 200 + 20) }
      })
    for colorSpace in [ColorSpace.bt601Limited, .bt709Limited] {
      let frame = VideoFrame(buffer: film, captureTime: .zero, colorSpace: colorSpace)
      _ = (try converter.convert(frame, rects: nil, into: lent), try converter.convert(frame, rects: nil, into: own))
      #expect(surface.planes == planes(own))
    }
    #expect(planes(lent) == planes(own), "the picture can be read, too")
  }
}
