import RTCConvert
import RTCMedia
import RTCPrimitives
import Testing

/// Encoders read I420, I444 or NV12; every frame gets there, whole or in parts.
@Suite struct InputFormatTests {
  private static let inputs: [PixelFormat] = [.i420, .i444, .nv12]
  private static let size = PixelSize(width: 34, height: 18)

  /// The colour at a pixel, as a browser turns it back: BT.601, limited range.
  private func shown(_ picture: InputPicture, x: Int, y: Int) -> (r: Double, g: Double, b: Double) {
    func sample(_ plane: Int, _ offset: Int) -> Double {
      picture.withPlane(plane) { Double($0[offset]) }
    }
    let luma = 1.16438 * (sample(0, y * picture.stride(ofPlane: 0) + x) - 16)
    let chroma = picture.stride(ofPlane: 1)
    let (u, v) =
      switch picture.format {
      case .i444: (sample(1, y * chroma + x), sample(2, y * chroma + x))
      case .nv12: (sample(1, y / 2 * chroma + x / 2 * 2), sample(1, y / 2 * chroma + x / 2 * 2 + 1))
      default: (sample(1, y / 2 * chroma + x / 2), sample(2, y / 2 * chroma + x / 2))
      }
    func clamp(_ value: Double) -> Double { min(255, max(0, value)).rounded() }
    let (blue, red) = (u - 128, v - 128)
    return (clamp(luma + 1.59603 * red), clamp(luma - 0.39176 * blue - 0.81297 * red), clamp(luma + 2.01723 * blue))
  }

  /// A frame of one colour.
  private func frame(
    _ format: PixelFormat, _ space: ColorSpace, _ color: (r: Double, g: Double, b: Double)
  ) throws -> VideoFrame {
    let (kr, kb) = space.matrix == .bt709 ? (0.2126, 0.0722) : (0.299, 0.114)
    let luma = kr * color.r + (1 - kr - kb) * color.g + kb * color.b
    let (u, v) = ((color.b - luma) / (2 - 2 * kb), (color.r - luma) / (2 - 2 * kr))
    let (lumaScale, chromaScale, black) = space.range == .full ? (1, 1, 0) : (219.0 / 255, 224.0 / 255, 16.0)
    func byte(_ value: Double) -> UInt8 { UInt8(max(0, min(255, value.rounded()))) }
    let samples = [byte(luma * lumaScale + black), byte(u * chromaScale + 128), byte(v * chromaScale + 128)]
    let buffer = PixelBuffer.allocate(format: format, size: Self.size) { plane, bytes, _ in
      for index in bytes.indices {
        bytes[index] =
          switch format {
          case .bgra: byte([color.b, color.g, color.r, 0][index % 4])
          case .rgba: byte([color.r, color.g, color.b, 0][index % 4])
          case .nv12 where plane == 1: samples[1 + index % 2]
          case .i420, .i444, .nv12: samples[plane]
          }
      }
    }
    return VideoFrame(buffer: try #require(buffer), captureTime: .zero, colorSpace: space)
  }

  @Test(arguments: inputs, PixelFormat.allCases) func `every frame keeps its colours in every input format`(
    input: PixelFormat, format: PixelFormat
  ) throws {
    let spaces: [ColorSpace] =
      format.planeCount == 1 ? [.sRGB] : [.bt601Limited, .bt709Limited, .bt601Full, .bt709Full]
    for space in spaces {
      for color in [(255.0, 0.0, 0.0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (18, 52, 86), (200, 120, 40)] {
        for target in [Self.size, PixelSize(width: 16, height: 8)] {
          let picture = InputPicture(format: input, size: target)
          var converter = FrameConverter()
          #expect(try converter.convert(try frame(format, space, color), rects: nil, into: picture) == nil)
          let back = shown(picture, x: target.width / 2, y: target.height / 2)
          let distance = max(abs(back.r - color.0), abs(back.g - color.1), abs(back.b - color.2))
          #expect(distance <= 8, "\(format) \(space) \(color) became \(back) at \(target)")
        }
      }
    }
  }

  @Test(arguments: inputs, [PixelFormat.bgra, .i444]) func `planes and screens of the right size pass once`(
    input: PixelFormat, format: PixelFormat
  ) throws {
    var converter = FrameConverter()
    let space: ColorSpace = format == .bgra ? .sRGB : .bt601Limited
    _ = try converter.convert(
      try frame(format, space, (1, 2, 3)), rects: nil, into: InputPicture(format: input, size: Self.size))
    #expect(converter.extraPasses == 0)
  }

  @Test(arguments: inputs, [PixelFormat.bgra, .rgba]) func `many parts make the same as the whole`(
    input: PixelFormat, format: PixelFormat
  ) throws {
    let size = PixelSize(width: 131, height: 77)
    let noise = try packedFrame(format, size) { x, y in
      let value = (x &* 7919 &+ y &* 104_729) &* 2_654_435_761
      return (UInt8(value >> 8 & 255), UInt8(value >> 16 & 255), UInt8(value >> 24 & 255))
    }
    let (whole, parts) = (InputPicture(format: input, size: size), InputPicture(format: input, size: size))
    var converter = FrameConverter()
    _ = try converter.convert(noise, rects: nil, into: whole)
    for y in stride(from: 0, to: size.height, by: 13) {
      for x in stride(from: 0, to: size.width, by: 37) {
        let rect = PixelRect(x: x, y: y, width: 37, height: 13).intersection(PixelRect(size))
        _ = try converter.convert(noise, rects: [rect], into: parts)
      }
    }
    #expect(planes(whole) == planes(parts))
  }
}
