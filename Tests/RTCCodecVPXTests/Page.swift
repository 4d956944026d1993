import RTCCodecVPX
import RTCMedia
import RTCPrimitives

/// A picture that looks like a page of text to a codec: small dark strokes on a light ground, the same for a seed.
struct Page {
  let size: PixelSize
  private(set) var luma: [UInt8]
  /// Blank lines at the bottom.
  private var scrolled = 0

  init(size: PixelSize, seed: UInt64 = 1) {
    self.size = size
    luma = Array(repeating: 235, count: size.width * size.height)
    write(in: PixelRect(size), seed: seed)
  }

  /// Replaces what stands in `rect` by other letters.
  mutating func write(in rect: PixelRect, seed: UInt64) {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    func random(_ bound: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state % UInt64(bound))
    }
    fill(rect, 235)
    for top in stride(from: rect.y + 4, to: rect.maxY - 12, by: 18) {
      for left in stride(from: rect.x + 4, to: rect.maxX - 8, by: 9) where random(7) > 0 {
        for _ in 0..<3 {
          let ink = UInt8(20 + random(60))
          if random(2) == 0 {
            fill(PixelRect(x: left + random(6), y: top, width: 1, height: 11), ink)
          } else {
            fill(PixelRect(x: left, y: top + random(11), width: 7, height: 1), ink)
          }
        }
      }
    }
  }

  /// Shows a picture of a film in `rect`: soft waves that pass, and grain.
  mutating func play(_ number: Int, in rect: PixelRect) {
    var state = UInt64(number) &* 0x9E37_79B9_7F4A_7C15 | 1
    for y in rect.y..<rect.maxY {
      for x in rect.x..<rect.maxX {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let (across, down) = ((x + number * 3) % 160, (y + number * 2) % 120)
        let waves = abs(across - 80) + abs(down - 60)
        luma[y * size.width + x] = UInt8(50 + waves + Int(state >> 61))
      }
    }
  }

  /// Moves everything up, as scrolling does; what comes in below is the top of other pages, a line of letters in a time.
  mutating func scroll(by lines: Int, seed: UInt64) {
    scrolled += lines
    luma.removeFirst(lines * size.width)
    luma.append(contentsOf: repeatElement(235, count: lines * size.width))
    guard scrolled >= 18 else { return }
    let line = PixelRect(
      x: 0, y: size.height - scrolled / 18 * 18 - 16, width: size.width, height: scrolled / 18 * 18 + 16)
    write(in: line, seed: seed)
    scrolled %= 18
  }

  /// Leaves the ground alone.
  mutating func clear() { fill(PixelRect(size), 235) }

  private mutating func fill(_ rect: PixelRect, _ value: UInt8) {
    let inside = rect.intersection(PixelRect(size))
    for y in inside.y..<inside.maxY { for x in inside.x..<inside.maxX { luma[y * size.width + x] = value } }
  }

  func draw(into picture: InputPicture) {
    let stride = picture.stride(ofPlane: 0)
    picture.withMutablePlane(0) { bytes in
      for y in 0..<size.height { for x in 0..<size.width { bytes[y * stride + x] = luma[y * size.width + x] } }
    }
  }

  /// Luma likeness to a decoded picture in dB; 99 when equal. `rect` nil = all.
  func psnr(_ decoded: PixelBuffer, in rect: PixelRect? = nil) -> Double {
    let stride = decoded.stride(ofPlane: 0)
    let bytes = decoded.bytes(ofPlane: 0)
    let area = rect ?? PixelRect(size)
    var sum = 0
    for y in area.y..<area.maxY {
      for x in area.x..<area.maxX {
        let difference = Int(bytes[y * stride + x]) - Int(luma[y * size.width + x])
        sum += difference * difference
      }
    }
    return sum == 0 ? 99 : Self.decibels(meanSquare: Double(sum) / Double(area.area))
  }

  static func decibels(meanSquare: Double) -> Double {
    // 10·log10(255² / x), the logarithm by halving: exact enough for thresholds in dB.
    var ratio = 65_025 / meanSquare
    var result = 0.0
    while ratio >= 2 {
      ratio /= 2
      result += 3.0103
    }
    return result + (ratio - 1) * 3.0103
  }
}

extension PixelBuffer {
  /// The luma bytes without gaps.
  func lumaBytes() -> [UInt8] {
    let span = bytes(ofPlane: 0)
    let stride = stride(ofPlane: 0)
    var result: [UInt8] = []
    for y in 0..<size.height { for x in 0..<size.width { result.append(span[y * stride + x]) } }
    return result
  }
}

/// An encoder, a decoder of what it makes, and virtual time.
struct Loop {
  let encoder: VP8Encoder
  let decoder: VP8Decoder
  var now = Timestamp.zero
  var shown: PixelBuffer?

  init(_ settings: VideoEncoderSettings) throws {
    encoder = try VP8Encoder(settings)
    decoder = try VP8Decoder()
  }

  mutating func encode(changed: [PixelRect]?, keyFrame: Bool = false) throws -> EncodedFrame? {
    try show(encoder.encode(EncodeJob(changed: changed, keyFrame: keyFrame, captureTime: now, now: now)))
  }

  /// Encodes a frame by reference, all of which may be new.
  mutating func encode(_ frame: VideoFrame) throws -> EncodedFrame? {
    try show(
      encoder.encode(
        EncodeJob(source: .frame(frame), changed: nil, keyFrame: false, captureTime: now, now: now)))
  }

  /// Refines whenever the encoder wants to, until it is done or `limit` has passed; returns the bytes this took.
  mutating func rest(for limit: TimeDelta) throws -> (frames: Int, bytes: Int) {
    let end = now + limit
    var (frames, bytes) = (0, 0)
    while let due = encoder.refinementTime(now: now), due <= end, frames < 1000 {
      now = max(due, now + .milliseconds(1))
      if let frame = try show(encoder.refine(now: now)) { (frames, bytes) = (frames + 1, bytes + frame.data.count) }
    }
    now = max(now, end)
    return (frames, bytes)
  }

  mutating func refine() throws -> EncodedFrame? { try show(encoder.refine(now: now)) }

  private mutating func show(_ frame: EncodedFrame?) throws -> EncodedFrame? {
    if let frame { shown = try decoder.decode(frame.data) }
    return frame
  }
}
