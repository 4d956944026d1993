import RTCMedia
import RTCWire

/// A decoded picture, as far as two decoders can be compared by it.
struct CodedPicture: Hashable, CustomStringConvertible {
  var size: PixelSize
  /// The MD5 sum of the planes' samples, one plane after the other.
  var sum: String

  var description: String { "\(size.width)x\(size.height) \(sum)" }

  init(size: PixelSize, sum: String) {
    self.size = size
    self.sum = sum
  }

  /// Of what one of our decoders made.
  init(_ picture: PixelBuffer) {
    size = picture.size
    var sum = MD5()
    for index in 0..<picture.format.planeCount {
      let extent = picture.format.planeExtent(index, of: size)
      let (bytes, stride) = (picture.bytes(ofPlane: index), picture.stride(ofPlane: index))
      for row in 0..<extent.rows { sum.update(bytes.extracting(row * stride..<row * stride + extent.rowBytes)) }
    }
    self.sum = Self.text(sum)
  }

  /// Of the part of a picture of `coded` samples that remains when `crop` is cut away.
  ///
  /// - Parameters:
  ///   - planes: of all samples, 4:2:0 or 4:4:4, without gaps.
  ///   - crop: columns and rows at the left, top, right and bottom.
  init(planes: Span<UInt8>, coded: PixelSize, isFull: Bool, crop: (left: Int, top: Int, right: Int, bottom: Int)) {
    size = PixelSize(width: coded.width - crop.left - crop.right, height: coded.height - crop.top - crop.bottom)
    var sum = MD5()
    var start = 0
    for plane in 0..<3 {
      let part = plane == 0 || isFull ? 1 : 2
      let width = coded.width / part
      for row in crop.top / part..<(coded.height - crop.bottom) / part {
        let first = start + row * width
        sum.update(planes.extracting(first + crop.left / part..<first + (coded.width - crop.right) / part))
      }
      start += width * (coded.height / part)
    }
    self.sum = Self.text(sum)
  }

  private static func text(_ sum: MD5) -> String {
    let digest = sum.finish()
    return digest.indices.map { index in
      let digits = String(digest[index], radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }
}
