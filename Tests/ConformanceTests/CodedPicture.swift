import RTCMedia

/// A decoded picture, as far as two decoders can be compared by it.
struct CodedPicture: Hashable, CustomStringConvertible {
  var size: PixelSize
  /// The samples of the planes, one plane after the other, without gaps.
  var samples: [UInt8]

  var description: String { "\(size.width)x\(size.height) \(samples.reduce(0) { $0 &* 31 &+ Int($1) })" }

  init(size: PixelSize, samples: [UInt8]) {
    self.size = size
    self.samples = samples
  }

  /// Makes the picture of a frame from one of our decoders.
  init(_ picture: PixelBuffer) {
    size = picture.size
    samples = []
    samples.reserveCapacity(3 * size.width * size.height)
    for index in 0..<picture.format.planeCount {
      let extent = picture.format.planeExtent(index, of: size)
      let (bytes, stride) = (picture.bytes(ofPlane: index), picture.stride(ofPlane: index))
      for row in 0..<extent.rows {
        let samplesOfRow = bytes.extracting(row * stride..<row * stride + extent.rowBytes)
        for column in samplesOfRow.indices { samples.append(samplesOfRow[column]) }
      }
    }
  }

  /// Makes the picture of `coded` samples without the border `crop`.
  ///
  /// - Parameters:
  ///   - planes: all samples, 4:2:0 or 4:4:4, without gaps.
  ///   - crop: columns and rows at the left, top, right and bottom.
  init(
    planes: ArraySlice<UInt8>, coded: PixelSize, isFull: Bool, crop: (left: Int, top: Int, right: Int, bottom: Int)
  ) {
    size = PixelSize(width: coded.width - crop.left - crop.right, height: coded.height - crop.top - crop.bottom)
    samples = []
    var start = planes.startIndex
    for plane in 0..<3 {
      let part = plane == 0 || isFull ? 1 : 2
      let width = coded.width / part
      for row in crop.top / part..<(coded.height - crop.bottom) / part {
        let first = start + row * width
        samples += planes[first + crop.left / part..<first + (coded.width - crop.right) / part]
      }
      start += width * (coded.height / part)
    }
  }
}
