import RTCMedia
import RTCPrimitives
import XvfbKit

/// A picture of coloured squares that looks different turned, mirrored or shifted.
struct TestCard {
  static let palette: [UInt32] = [0xe04030, 0x30c050, 0x3050d0, 0xf0f0f0, 0x202020, 0xd0c020, 0x20b0c0, 0xb030b0]

  var size = PixelSize(width: 320, height: 240)
  /// A square's edge, in pixels.
  var square = 40
  var format = PixelFormat.i420
  var colorSpace = ColorSpace.bt601Limited
  var rotation = VideoRotation.none
  /// Changes all colours.
  var shift = 0
  /// Bytes that every row is longer than packed.
  var padding = 0

  func color(_ x: Int, _ y: Int) -> UInt32 {
    let (column, row) = (x / square, y / square)
    return Self.palette[(column * 3 + row * 5 + column * row + shift) % Self.palette.count]
  }

  // MARK: The frame

  func frame() -> VideoFrame {
    VideoFrame(buffer: buffer(), captureTime: .init(nanoseconds: 0), rotation: rotation, colorSpace: colorSpace)
  }

  func buffer(onRelease: @escaping @Sendable () -> Void = {}) -> PixelBuffer {
    var planes: [(base: UnsafeRawPointer, stride: Int)] = []
    for index in 0..<format.planeCount {
      let extent = format.planeExtent(index, of: size)
      let stride = extent.rowBytes + padding
      let base = UnsafeMutablePointer<UInt8>.allocate(capacity: stride * extent.rows)
      base.initialize(repeating: 0, count: stride * extent.rows)
      for row in 0..<extent.rows {
        for byte in 0..<extent.rowBytes { base[row * stride + byte] = sample(index, byte, row) }
      }
      planes.append((UnsafeRawPointer(base), stride))
    }
    let addresses = planes.map { UInt(bitPattern: $0.base) }
    return PixelBuffer(format: format, size: size, planes: planes) {
      for address in addresses { UnsafeMutableRawPointer(bitPattern: address)!.deallocate() }
      onRelease()
    }!
  }

  private func sample(_ plane: Int, _ byte: Int, _ row: Int) -> UInt8 {
    switch (format, plane) {
    case (.bgra, _): UInt8(truncatingIfNeeded: color(byte / 4, row) >> UInt32([0, 8, 16, 24][byte % 4]))
    case (.rgba, _): UInt8(truncatingIfNeeded: color(byte / 4, row) >> UInt32([16, 8, 0, 24][byte % 4]))
    case (_, 0): yuv(byte, row).0
    case (.nv12, _): byte % 2 == 0 ? yuv(byte, row * 2).1 : yuv(byte - 1, row * 2).2
    case (.i444, 1): yuv(byte, row).1
    case (.i444, _): yuv(byte, row).2
    case (.i420, 1): yuv(byte * 2, row * 2).1
    case (.i420, _): yuv(byte * 2, row * 2).2
    }
  }

  private func yuv(_ x: Int, _ y: Int) -> (UInt8, UInt8, UInt8) {
    let color = color(x, y)
    let (r, g, b) = (Double(color >> 16 & 255), Double(color >> 8 & 255), Double(color & 255))
    let (kr, kb) = [.bt709Limited, .bt709Full].contains(colorSpace) ? (0.2126, 0.0722) : (0.299, 0.114)
    let luma = kr * r + (1 - kr - kb) * g + kb * b
    let (u, v) = ((b - luma) / (2 - 2 * kb), (r - luma) / (2 - 2 * kr))
    let isFull = [.sRGB, .bt709Full].contains(colorSpace)
    let (lumaScale, chromaScale, black) = isFull ? (1, 1, 0) : (219.0 / 255, 224.0 / 255, 16.0)
    func byte(_ value: Double) -> UInt8 { UInt8(max(0, min(255, value.rounded()))) }
    return (byte(luma * lumaScale + black), byte(u * chromaScale + 128), byte(v * chromaScale + 128))
  }

  // MARK: What is seen

  /// The fault of the card as shown at `place`, away from the edges of its squares; nil without any.
  ///
  /// - Parameter tolerance: libyuv's 709 matrix is up to 7 levels off in blue.
  func fault(in shot: VideoFrame, at place: PixelRect, tolerance: Int = 8) -> String? {
    let margin = 3.0
    for y in place.y..<place.maxY {
      for x in place.x..<place.maxX {
        let (u, v) = turned(
          (Double(x - place.x) + 0.5) / Double(place.width), (Double(y - place.y) + 0.5) / Double(place.height))
        let (sourceX, sourceY) = (u * Double(size.width), v * Double(size.height))
        if isNearEdge(sourceX, size.width, margin) || isNearEdge(sourceY, size.height, margin) { continue }
        let (wanted, found) = (color(Int(sourceX), Int(sourceY)), shot.pixel(x, y))
        if distance(wanted, found) > tolerance {
          return "\(x), \(y) is \(hex(found)) where it should be \(hex(wanted))"
        }
      }
    }
    return nil
  }

  private func turned(_ u: Double, _ v: Double) -> (Double, Double) {
    switch rotation {
    case .none: (u, v)
    case .clockwise90: (v, 1 - u)
    case .half: (1 - u, 1 - v)
    case .clockwise270: (1 - v, u)
    }
  }

  private func isNearEdge(_ value: Double, _ end: Int, _ margin: Double) -> Bool {
    let within = value.truncatingRemainder(dividingBy: Double(square))
    return within < margin || Double(square) - within < margin || Double(end) - value < margin
  }
}

/// The largest difference in one colour.
func distance(_ a: UInt32, _ b: UInt32) -> Int {
  let red = abs(Int(a >> 16 & 255) - Int(b >> 16 & 255))
  let green = abs(Int(a >> 8 & 255) - Int(b >> 8 & 255))
  return max(red, green, abs(Int(a & 255) - Int(b & 255)))
}

extension PixelRect {
  static let stage = PixelRect(x: 0, y: 0, width: 640, height: 480)
}
