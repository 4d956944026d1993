import RTCCodecVPX
import RTCMedia
import RTCPrimitives

/// Letters in many colours on coloured grounds, the same for a seed; Y, U and V of each pixel.
struct ColouredPage {
  let size: PixelSize
  private var planes: [[UInt8]]
  private var state: UInt64
  private var scrolled = 0

  init(size: PixelSize, seed: UInt64 = 1) {
    self.size = size
    state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    planes = [210, 120, 135].map { Array(repeating: $0, count: size.width * size.height) }
    write(in: PixelRect(size))
  }

  private mutating func random(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state % UInt64(bound))
  }

  mutating func fill(_ rect: PixelRect, _ colour: (UInt8, UInt8, UInt8)) {
    let inside = rect.intersection(PixelRect(size))
    for y in inside.y..<inside.maxY {
      for index in y * size.width + inside.x..<y * size.width + inside.maxX {
        (planes[0][index], planes[1][index], planes[2][index]) = colour
      }
    }
  }

  /// Other letters, on a ground of another colour.
  mutating func write(in rect: PixelRect) {
    fill(rect, (UInt8(190 + random(30)), UInt8(115 + random(20)), UInt8(120 + random(20))))
    for top in stride(from: rect.y + 4, to: rect.maxY - 12, by: 18) {
      for left in stride(from: rect.x + 4, to: rect.maxX - 8, by: 9) where random(7) > 0 {
        let ink = (UInt8(40 + random(50)), UInt8(80 + random(100)), UInt8(80 + random(100)))
        for _ in 0..<3 {
          let isUpright = random(2) == 0
          let corner = (x: left + (isUpright ? random(6) : 0), y: top + (isUpright ? 0 : random(11)))
          fill(
            PixelRect(x: corner.x, y: corner.y, width: isUpright ? 1 : 7, height: isUpright ? 11 : 1).intersection(
              rect),
            ink)
        }
      }
    }
  }

  /// Moves everything up; other letters come in below, a line of them in a time.
  mutating func scroll(by lines: Int) {
    for index in 0..<3 {
      let last = Array(planes[index].suffix(size.width))
      planes[index].removeFirst(lines * size.width)
      for _ in 0..<lines { planes[index].append(contentsOf: last) }
    }
    scrolled += lines
    guard scrolled >= 18 else { return }
    write(in: PixelRect(x: 0, y: size.height - scrolled, width: size.width, height: scrolled))
    scrolled = 0
  }

  /// As an encoder reads plane `index`: colours for each pixel, or in the mean of four.
  private func samples(_ index: Int, _ format: PixelFormat) -> (all: [UInt8], width: Int, height: Int) {
    guard index > 0, format == .i420 else { return (planes[index], size.width, size.height) }
    let (width, height) = ((size.width + 1) / 2, (size.height + 1) / 2)
    var half: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width {
        let (right, below) = (min(2 * x + 1, size.width - 1), min(2 * y + 1, size.height - 1))
        let sum = [2 * y, below].reduce(0) { sum, line in
          sum + Int(planes[index][line * size.width + 2 * x]) + Int(planes[index][line * size.width + right])
        }
        half.append(UInt8((sum + 2) / 4))
      }
    }
    return (half, width, height)
  }

  func draw(into picture: InputPicture) {
    for index in 0..<3 {
      let (all, width, height) = samples(index, picture.format)
      let stride = picture.stride(ofPlane: index)
      picture.withMutablePlane(index) { bytes in
        for y in 0..<height { for x in 0..<width { bytes[y * stride + x] = all[y * width + x] } }
      }
    }
  }

  /// Likeness of luma to a decoded picture in dB.
  func luma(_ decoded: PixelBuffer, in rect: PixelRect? = nil) -> Double {
    let area = rect ?? PixelRect(size)
    let shown = decoded.samples(0)
    var sum = 0
    for y in area.y..<area.maxY {
      for index in y * size.width + area.x..<y * size.width + area.maxX {
        let difference = Int(shown[index]) - Int(planes[0][index])
        sum += difference * difference
      }
    }
    return Page.decibels(meanSquare: Double(max(1, sum)) / Double(area.area))
  }

  /// Likeness of red, green and blue to a decoded picture in dB, 4:2:0 with each colour sample shown four times.
  func rgb(_ decoded: PixelBuffer) -> Double {
    let shown = (0..<3).map { decoded.samples($0) }
    let half = (size.width + 1) / 2
    var sum = 0
    for y in 0..<size.height {
      for x in 0..<size.width {
        let index = y * size.width + x
        let colour = decoded.format == .i444 ? index : y / 2 * half + x / 2
        let a = Self.rgb(Int(shown[0][index]), Int(shown[1][colour]), Int(shown[2][colour]))
        let b = Self.rgb(Int(planes[0][index]), Int(planes[1][index]), Int(planes[2][index]))
        for place in 0..<3 { sum += (a[place] - b[place]) * (a[place] - b[place]) }
      }
    }
    return Page.decibels(meanSquare: Double(max(1, sum)) / Double(size.width * size.height * 3))
  }

  /// BT.601, limited range.
  private static func rgb(_ y: Int, _ u: Int, _ v: Int) -> SIMD4<Int> {
    let (c, d, e) = (298 * (y - 16), u - 128, v - 128)
    let all = SIMD4(c + 409 * e, c - 100 * d - 208 * e, c + 516 * d, 0) &+ 128
    return (all &>> 8).clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 255))
  }
}

extension PixelBuffer {
  /// The bytes of a plane without gaps.
  func samples(_ index: Int) -> [UInt8] {
    let (bytes, stride) = (bytes(ofPlane: index), stride(ofPlane: index))
    let extent = format.planeExtent(index, of: size)
    var result: [UInt8] = []
    result.reserveCapacity(extent.rows * extent.rowBytes)
    for y in 0..<extent.rows { for x in 0..<extent.rowBytes { result.append(bytes[y * stride + x]) } }
    return result
  }
}
