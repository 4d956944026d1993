import FeatureKit
import RTCConvert
import RTCMedia
import RTCPrimitives
import Testing

@Suite struct PictureTurnerTests {
  /// A picture with a different value for each pixel and plane.
  private func numbered(_ format: PixelFormat, _ size: PixelSize) throws -> PixelBuffer {
    try #require(
      PixelBuffer.allocate(format: format, size: size) { plane, bytes, stride in
        let extent = format.planeExtent(plane, of: size)
        for row in 0..<extent.rows {
          for place in 0..<extent.rowBytes {
            bytes[row * stride + place] = UInt8(truncatingIfNeeded: 7 * row + 31 * place + 101 * plane)
          }
        }
      })
  }

  /// The samples of a plane by rows; each pixel of several bytes as one number.
  private func rows(_ buffer: PixelBuffer, _ plane: Int, bytes count: Int) -> [[Int]] {
    let extent = buffer.format.planeExtent(plane, of: buffer.size)
    let (bytes, stride) = (buffer.bytes(ofPlane: plane), buffer.stride(ofPlane: plane))
    var rows: [[Int]] = []
    for row in 0..<extent.rows {
      var samples: [Int] = []
      for place in Swift.stride(from: 0, to: extent.rowBytes, by: count) {
        var sample = 0
        for byte in 0..<count { sample = sample << 8 | Int(bytes[row * stride + place + byte]) }
        samples.append(sample)
      }
      rows.append(samples)
    }
    return rows
  }

  private func turned(_ rows: [[Int]], _ rotation: VideoRotation) -> [[Int]] {
    switch rotation {
    case .none: rows
    case .clockwise90: rows[0].indices.map { column in rows.reversed().map { $0[column] } }
    case .half: rows.reversed().map { $0.reversed() }
    case .clockwise270: rows[0].indices.reversed().map { column in rows.map { $0[column] } }
    }
  }

  @Test(
    .feature("S0.72"), arguments: [PixelFormat.i420, .i444, .nv12, .bgra, .rgba],
    [VideoRotation.clockwise90, .half, .clockwise270]
  ) func `every pixel comes to its place`(format: PixelFormat, rotation: VideoRotation) throws {
    for size in [PixelSize(width: 64, height: 36), PixelSize(width: 37, height: 21), PixelSize(width: 1, height: 3)] {
      let buffer = try numbered(format, size)
      var frame = VideoFrame(
        buffer: buffer, captureTime: Timestamp(nanoseconds: 5), rotation: rotation, colorSpace: .bt709Limited)
      frame.contentHint = .detail
      let upright = PictureTurner().upright(frame)
      #expect(upright.rotation == .none && upright.colorSpace == .bt709Limited && upright.contentHint == .detail)
      #expect(upright.captureTime == frame.captureTime)
      #expect(upright.size == size.turned(rotation))
      if format == .nv12 {
        #expect(upright.buffer.format == .i420)
        let pairs = rows(buffer, 1, bytes: 2)
        #expect(rows(upright.buffer, 1, bytes: 1) == turned(pairs.map { $0.map { $0 >> 8 } }, rotation))
        #expect(rows(upright.buffer, 2, bytes: 1) == turned(pairs.map { $0.map { $0 & 255 } }, rotation))
      } else {
        #expect(upright.buffer.format == format)
        for plane in 1..<max(1, format.planeCount) {
          #expect(rows(upright.buffer, plane, bytes: 1) == turned(rows(buffer, plane, bytes: 1), rotation))
        }
      }
      let bytes = format.planeCount == 1 ? 4 : 1
      #expect(rows(upright.buffer, 0, bytes: bytes) == turned(rows(buffer, 0, bytes: bytes), rotation))
    }
  }

  @Test func `an upright picture is handed on as it is`() throws {
    let frame = VideoFrame(
      buffer: try numbered(.i420, PixelSize(width: 16, height: 8)), captureTime: .zero, colorSpace: .bt601Limited)
    #expect(PictureTurner().upright(frame).buffer === frame.buffer)
  }

  /// Rotating parts gives the same result as rotating the whole picture.
  @Test(arguments: [VideoRotation.none, .clockwise90, .half, .clockwise270])
  func `damage goes where its pixels go`(rotation: VideoRotation) throws {
    let size = PixelSize(width: 40, height: 24)
    let rect = PixelRect(x: 5, y: 3, width: 7, height: 11)
    let marked = (0..<size.height).map { y in
      (0..<size.width).map { x in x >= rect.x && x < rect.maxX && y >= rect.y && y < rect.maxY ? 1 : 0 }
    }
    let place = rect.turned(rotation, within: size)
    let found = turned(marked, rotation)
    for (y, row) in found.enumerated() {
      for (x, mark) in row.enumerated() {
        #expect((mark == 1) == (x >= place.x && x < place.maxX && y >= place.y && y < place.maxY))
      }
    }
    let frame = VideoFrame(
      buffer: try numbered(.bgra, size), captureTime: .zero, rotation: rotation, damage: [rect], colorSpace: .sRGB)
    #expect(PictureTurner().upright(frame).damage == [place])
  }
}
