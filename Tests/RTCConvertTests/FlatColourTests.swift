import RTCConvert
import RTCMedia
import RTCPrimitives
import Testing

/// The four bytes of a pixel in memory order, every pixel of `size` by `color(x, y)`.
func packedFrame(
  _ format: PixelFormat, _ size: PixelSize, damage: [PixelRect]? = nil,
  color: (Int, Int) -> (r: UInt8, g: UInt8, b: UInt8)
) throws -> VideoFrame {
  let buffer = try #require(
    PixelBuffer.allocate(format: format, size: size) { _, bytes, stride in
      for y in 0..<size.height {
        for x in 0..<size.width {
          let (r, g, b) = color(x, y)
          let at = y * stride + x * 4
          bytes[at] = format == .bgra ? b : r
          bytes[at + 1] = g
          bytes[at + 2] = format == .bgra ? r : b
        }
      }
    })
  return VideoFrame(buffer: buffer, captureTime: .zero, damage: damage, colorSpace: .sRGB)
}

/// The samples of a picture, without gaps.
func planes(_ picture: InputPicture) -> [[UInt8]] {
  (0..<picture.format.planeCount).map { index in
    let extent = picture.format.planeExtent(index, of: picture.size)
    let stride = picture.stride(ofPlane: index)
    return picture.withPlane(index) { bytes in
      var result: [UInt8] = []
      for y in 0..<extent.rows { for x in 0..<extent.rowBytes { result.append(bytes[y * stride + x]) } }
      return result
    }
  }
}

@Suite struct FlatColourTests {
  /// As a browser turns it back: BT.601, limited range.
  private func shown(_ y: UInt8, _ u: UInt8, _ v: UInt8) -> (Double, Double, Double) {
    let (luma, blue, red) = (1.16438 * (Double(y) - 16), Double(u) - 128, Double(v) - 128)
    func clamp(_ value: Double) -> Double { min(255, max(0, value)).rounded() }
    return (
      clamp(luma + 1.59603 * red), clamp(luma - 0.39176 * blue - 0.81297 * red), clamp(luma + 2.01723 * blue)
    )
  }

  @Test(arguments: [PixelFormat.bgra, .rgba]) func `flat colours come back within two levels`(format: PixelFormat)
    throws
  {
    let size = PixelSize(width: 34, height: 18)
    let picture = InputPicture(size: size)
    var converter = FrameConverter()
    for (r, g, b): (UInt8, UInt8, UInt8) in [
      (0, 0, 0), (255, 255, 255), (255, 0, 0), (0, 255, 0), (0, 0, 255), (18, 52, 86), (200, 100, 50), (127, 127, 127),
    ] {
      let frame = try packedFrame(format, size) { _, _ in (r, g, b) }
      _ = try converter.convert(frame, rects: nil, into: picture)
      let values = planes(picture)
      let back = shown(values[0][40], values[1][9], values[2][9])
      #expect(
        abs(back.0 - Double(r)) <= 2 && abs(back.1 - Double(g)) <= 2 && abs(back.2 - Double(b)) <= 2,
        "\(r) \(g) \(b) came back as \(back)")
    }
    #expect(converter.extraPasses == 0)
  }

  /// The colours that Chromium makes of a canvas.
  @Test(arguments: [PixelFormat.i420, .i444], [PixelSize(width: 70, height: 35), PixelSize(width: 32, height: 16)])
  func `a frame of full range keeps its colours`(format: PixelFormat, target: PixelSize) throws {
    _ = try convertColours(format, target, .bt709Full, within: 6) { r, g, b in
      let y = 0.2126 * r + 0.7152 * g + 0.0722 * b
      return [y, 128 + (b - y) / 1.8556, 128 + (r - y) / 1.5748].map { UInt8(max(0, min(255, $0.rounded()))) }
    }
  }

  @Test(arguments: [PixelFormat.i420, .i444], [PixelSize(width: 70, height: 35), PixelSize(width: 32, height: 16)])
  func `a frame of the other matrix keeps its colours`(format: PixelFormat, target: PixelSize) throws {
    let extraPasses = try convertColours(format, target, .bt709Limited, within: 4) { r, g, b in
      let y = 0.2126 * r + 0.7152 * g + 0.0722 * b
      return [
        16 + y * 219 / 255, 128 + (b - y) / 1.8556 * 224 / 255, 128 + (r - y) / 1.5748 * 224 / 255,
      ].map { UInt8($0.rounded()) }
    }
    #expect(extraPasses == 0)
  }

  /// Converts frames of one colour each, whose samples `sample` tells, and expects the colours within `tolerance`.
  /// - Returns: the extra passes that took.
  private func convertColours(
    _ format: PixelFormat, _ target: PixelSize, _ space: ColorSpace, within tolerance: Double,
    _ sample: (_ r: Double, _ g: Double, _ b: Double) -> [UInt8]
  ) throws -> UInt64 {
    var extraPasses: UInt64 = 0
    for (r, g, b) in [(255.0, 0.0, 0.0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0), (200, 120, 40)] {
      let samples = sample(r, g, b)
      let buffer = try #require(
        PixelBuffer.allocate(format: format, size: PixelSize(width: 70, height: 35)) { plane, bytes, _ in
          for index in 0..<bytes.count { bytes[index] = samples[plane] }
        })
      let picture = InputPicture(size: target)
      var converter = FrameConverter()
      let frame = VideoFrame(buffer: buffer, captureTime: .zero, colorSpace: space)
      #expect(try converter.convert(frame, rects: nil, into: picture) == nil)
      let values = planes(picture)
      for place in [0, 1, target.width - 1] {
        let back = shown(values[0][place], values[1][place / 2], values[2][place / 2])
        let distance = max(abs(back.0 - r), abs(back.1 - g), abs(back.2 - b))
        #expect(distance <= tolerance, "\(r) \(g) \(b) became \(back)")
      }
      extraPasses += converter.extraPasses
    }
    return extraPasses
  }
}
