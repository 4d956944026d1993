package import RTCMedia
package import RTCPrimitives

/// A page of coloured letters on grounds of several colours, in planes, the same for a seed; it can scroll and be written in.
package struct ColourPage {
  package let size: PixelSize
  package let chroma: ChromaSampling
  /// Y, U and V of every pixel, limited range.
  private var pixels: [SIMD4<UInt8>]
  private var lines: UInt64 = 0

  package init(size: PixelSize, chroma: ChromaSampling = .quarter, seed: UInt64 = 1) {
    self.size = size
    self.chroma = chroma
    pixels = Array(repeating: [235, 128, 128, 0], count: size.width * size.height)
    for top in stride(from: 0, to: size.height, by: 18) { writeLine(top, seed: seed &+ UInt64(top)) }
  }

  /// Other letters in the line of 18 rows that begins at `top`.
  package mutating func writeLine(_ top: Int, seed: UInt64) {
    var random = Generator(seed: seed)
    let grounds: [SIMD4<UInt8>] = [[235, 128, 128, 0], [40, 128, 128, 0], [200, 110, 150, 0], [90, 170, 110, 0]]
    let inks: [SIMD4<UInt8>] = [[30, 128, 128, 0], [81, 90, 240, 0], [145, 54, 34, 0], [210, 16, 146, 0]]
    let ground = grounds[random.next(4)]
    fill(PixelRect(x: 0, y: top, width: size.width, height: 18), ground)
    for left in stride(from: 4, to: size.width - 8, by: 9) where random.next(7) > 0 {
      let ink = inks[random.next(4)]
      for _ in 0..<3 {
        let isUpright = random.next(2) == 0
        fill(
          isUpright
            ? PixelRect(x: left + random.next(6), y: top + 3, width: 1, height: 11)
            : PixelRect(x: left, y: top + 3 + random.next(11), width: 7, height: 1), ink)
      }
    }
  }

  /// One letter; returns where.
  package mutating func type(_ number: Int) -> PixelRect {
    let rect = PixelRect(x: 40 + number * 9, y: 36 + 3, width: 7, height: 11)
    fill(PixelRect(x: rect.x + number % 6, y: rect.y, width: 1, height: 11), [30, 90, 200, 0])
    fill(PixelRect(x: rect.x, y: rect.y + 5, width: 7, height: 1), [30, 90, 200, 0])
    return rect
  }

  /// Shows a picture of a film in `rect`: soft waves that pass, and grain.
  package mutating func play(_ number: Int, in rect: PixelRect) {
    var random = Generator(seed: UInt64(number) + 1)
    for y in rect.y..<rect.maxY {
      for x in rect.x..<rect.maxX {
        let (across, down) = ((x + number * 3) % 160, (y + number * 2) % 120)
        let waves = abs(across - 80) + abs(down - 60)
        pixels[y * size.width + x] = [UInt8(50 + waves + random.next(8)), 120, 140, 0]
      }
    }
  }

  /// Moves everything up by 18 rows and writes a new line below.
  package mutating func scroll() {
    lines += 1
    pixels.removeFirst(18 * size.width)
    pixels.append(contentsOf: repeatElement([235, 128, 128, 0], count: 18 * size.width))
    writeLine(size.height - 18, seed: 1_000 + lines)
  }

  /// Moves everything down by 18 rows and writes a new line above.
  package mutating func scrollBack() {
    lines += 1
    pixels.removeLast(18 * size.width)
    pixels.insert(contentsOf: repeatElement([235, 128, 128, 0], count: 18 * size.width), at: 0)
    writeLine(0, seed: 1_000 + lines)
  }

  /// Says `number` in black and white squares of 16 pixels on grey, as a bar code.
  package mutating func showCode(_ number: Int) {
    fill(PixelRect(x: 0, y: 0, width: 18 * 16, height: 64), [126, 128, 128, 0])
    var random = Generator(seed: UInt64(number) + 1)
    for cell in 0..<32 {
      let isWhite = random.next(2) == 0
      fill(
        PixelRect(x: 16 + cell % 16 * 16, y: 16 + cell / 16 * 16, width: 16, height: 16),
        [isWhite ? 235 : 16, 128, 128, 0])
    }
  }

  /// How many squares of the bar code are not as they were drawn.
  package func wrongSquares(_ decoded: PixelBuffer) -> Int {
    let (stride, bytes) = (decoded.stride(ofPlane: 0), decoded.bytes(ofPlane: 0))
    return (0..<32).count { cell in
      let (x, y) = (24 + cell % 16 * 16, 24 + cell / 16 * 16)
      return abs(Int(bytes[y * stride + x]) - Int(pixels[y * size.width + x][0])) > 60
    }
  }

  private mutating func fill(_ rect: PixelRect, _ value: SIMD4<UInt8>) {
    let inside = rect.intersection(PixelRect(size))
    for y in inside.y..<max(inside.y, inside.maxY) {
      for x in inside.x..<inside.maxX { pixels[y * size.width + x] = value }
    }
  }

  /// The samples of a plane: those of every pixel, or the means of four.
  private func sample(_ plane: Int, _ x: Int, _ y: Int) -> UInt8 {
    guard plane > 0, chroma == .quarter else { return pixels[y * size.width + x][plane] }
    var sum = 2
    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
      sum += Int(pixels[min(y * 2 + dy, size.height - 1) * size.width + min(x * 2 + dx, size.width - 1)][plane])
    }
    return UInt8(sum / 4)
  }

  package func draw(into picture: InputPicture) {
    for plane in 0..<3 {
      let (stride, extent) = (picture.stride(ofPlane: plane), picture.format.planeExtent(plane, of: size))
      picture.withMutablePlane(plane) { bytes in
        for y in 0..<extent.rows { for x in 0..<extent.rowBytes { bytes[y * stride + x] = sample(plane, x, y) } }
      }
    }
  }

  /// Luma likeness to a decoded picture in dB, of its upper `rows` rows (nil: all); 99 when equal.
  package func lumaPSNR(_ decoded: PixelBuffer, rows: Int? = nil) -> Double {
    let rows = rows ?? size.height
    let (stride, bytes) = (decoded.stride(ofPlane: 0), decoded.bytes(ofPlane: 0))
    var sum = 0
    for y in 0..<rows {
      for x in 0..<size.width {
        let difference = Int(bytes[y * stride + x]) - Int(pixels[y * size.width + x].x)
        sum += difference * difference
      }
    }
    return decibels(Double(sum) / Double(size.width * rows))
  }

  /// Likeness of red, green and blue to a decoded 4:4:4 picture in dB (BT.601, limited range).
  package func colourPSNR(_ decoded: PixelBuffer) -> Double {
    precondition(decoded.format == .i444)
    var sum = 0.0
    for y in 0..<size.height {
      for x in 0..<size.width {
        let shown = SIMD3<Double>(
          (0..<3).reduce(into: SIMD3<Double>()) { result, plane in
            result[plane] = Double(decoded.bytes(ofPlane: plane)[y * decoded.stride(ofPlane: plane) + x])
          })
        let pixel = pixels[y * size.width + x]
        let difference = rgb(shown) - rgb(SIMD3(Double(pixel.x), Double(pixel.y), Double(pixel.z)))
        sum += (difference * difference).sum()
      }
    }
    return decibels(sum / Double(size.width * size.height * 3))
  }

  private func rgb(_ sample: SIMD3<Double>) -> SIMD3<Double> {
    let (y, u, v) = (1.164 * (sample.x - 16), sample.y - 128, sample.z - 128)
    return SIMD3(y + 1.596 * v, y - 0.392 * u - 0.813 * v, y + 2.017 * u)
      .clamped(lowerBound: SIMD3(repeating: 0), upperBound: SIMD3(repeating: 255))
  }

  private func decibels(_ meanSquare: Double) -> Double {
    guard meanSquare > 0 else { return 99 }
    // 10·log10(255² / x), the logarithm by halving: exact enough for thresholds in dB.
    var (ratio, result) = (65_025 / meanSquare, 0.0)
    while ratio >= 2 {
      ratio /= 2
      result += 3.0103
    }
    return result + 3.0103 * (ratio - 1)
  }

  private struct Generator {
    var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next(_ bound: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state % UInt64(bound))
    }
  }
}
