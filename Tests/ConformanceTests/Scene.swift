import RTCMedia
import RTCPrimitives

/// Moving pictures to encode, the same each time: a texture that scrolls, a square that crosses it, and a patch of noise,
/// which no encoder foretells.
struct Scene: Sendable {
  /// How many samples of colour there are for those of light.
  enum Chroma: String, Sendable {
    /// None: encoders are given colours, and told to leave them out.
    case none = "400"
    case quarter = "420"
    case half = "422"
    case full = "444"
  }

  var size = PixelSize(width: 98, height: 66)
  var chroma = Chroma.quarter
  /// 8 or 10 bits in each sample.
  var bitDepth = 8
  var frames = 14

  /// The pictures as a YUV4MPEG2 file.
  var y4m: [UInt8] {
    let depth = bitDepth == 8 ? "" : "p\(bitDepth)"
    let tag =
      switch (chroma, bitDepth) {
      case (.none, _), (.quarter, 8): "420jpeg"
      default: chroma.rawValue + depth
      }
    var bytes = Array("YUV4MPEG2 W\(size.width) H\(size.height) F30:1 Ip A1:1 C\(tag)\n".utf8)
    bytes.reserveCapacity(frames * (16 + 3 * size.width * size.height * (bitDepth + 7) / 8))
    var noise = SeededGenerator(seed: 11)
    for time in 0..<frames {
      bytes += Array("FRAME\n".utf8)
      for plane in 0..<3 { append(plane, at: time, &noise, to: &bytes) }
    }
    return bytes
  }

  /// The bytes of a decoded picture of this size; without colours it has grey ones.
  func byteCount(of size: PixelSize) -> Int {
    let (halfWidth, halfHeight) = ((size.width + 1) / 2, (size.height + 1) / 2)
    let colours =
      switch chroma {
      case .none, .quarter: halfWidth * halfHeight
      case .half: halfWidth * size.height
      case .full: size.width * size.height
      }
    return (size.width * size.height + 2 * colours) * (bitDepth > 8 ? 2 : 1)
  }

  private func append(_ plane: Int, at time: Int, _ noise: inout SeededGenerator, to bytes: inout [UInt8]) {
    let isHalved = plane > 0
    let width = isHalved && chroma != .full ? (size.width + 1) / 2 : size.width
    let height = isHalved && (chroma == .quarter || chroma == .none) ? (size.height + 1) / 2 : size.height
    let place = 5 * time % max(1, width - 12)
    for y in 0..<height {
      for x in 0..<width {
        var sample = 64 + 3 * (x + 2 * time) % 97 + 5 * (y + time) % 61 + 20 * plane
        if x >= place, x < place + 12, y >= 8, y < 20 { sample = 220 - 60 * plane }
        if x >= width - 24, y >= height - 16 { sample = Int(noise.next() % 200) + 20 }
        bytes.append(UInt8(truncatingIfNeeded: bitDepth == 8 ? sample : sample << (bitDepth - 8)))
        if bitDepth > 8 { bytes.append(UInt8(truncatingIfNeeded: sample >> (16 - bitDepth))) }
      }
    }
  }
}
