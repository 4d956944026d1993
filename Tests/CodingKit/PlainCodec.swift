package import RTCMedia
package import RTCPrimitives
package import RTCVideoCoding

/// A picture of the plain codec: its planes without gaps.
///
/// The codec of the tests: small, but complete. A picture is predicted from the last one, which may have scrolled, and
/// each block that is coded holds the differences of its samples, divided by the quantizer, in runs of zeros.
package struct PlainPicture: Equatable {
  package let size: PixelSize
  package fileprivate(set) var planes: [[UInt8]]

  fileprivate static let format = PixelFormat.i420

  /// A grey picture.
  package init(size: PixelSize) {
    self.size = size
    planes = (0..<3).map {
      let extent = Self.format.planeExtent($0, of: size)
      return Array(repeating: 128, count: extent.rowBytes * extent.rows)
    }
  }

  fileprivate var blockCount: Int { (size.width + 15) / 16 * ((size.height + 15) / 16) }

  fileprivate func width(_ plane: Int) -> Int { Self.format.planeExtent(plane, of: size).rowBytes }

  /// Calls `body` with the index of each sample of a block, and that of the sample `scroll` rows below it.
  fileprivate func forEachSample(of block: Int, scroll: Int, _ body: (_ plane: Int, _ at: Int, _ from: Int) -> Void) {
    let columns = (size.width + 15) / 16
    for plane in 0..<3 {
      let (side, extent) = (plane == 0 ? 16 : 8, Self.format.planeExtent(plane, of: size))
      let (left, top) = (block % columns * side, block / columns * side)
      let distance = plane == 0 ? scroll : scroll / 2
      for y in top..<max(top, min(top + side, extent.rows)) {
        let source = min(max(0, y + distance), extent.rows - 1)
        for x in left..<max(left, min(left + side, extent.rowBytes)) {
          body(plane, y * extent.rowBytes + x, source * extent.rowBytes + x)
        }
      }
    }
  }
}

/// The context of the plain codec, which together with the tables in its extension is all that an encoder needs.
package final class PlainContext: BlockCoder {
  private let size: PixelSize
  private var last: PlainPicture
  private var count = 0

  package init(_ settings: VideoEncoderSettings, _ matrix: ColorSpace.Matrix) throws(VideoEncoderError) {
    guard settings.chroma == .quarter else { throw .library(status: 1, message: "the plain codec has 4:2:0 alone") }
    guard settings.size.width < 65_536, settings.size.height < 65_536 else { throw .unsupportedSize(settings.size) }
    size = settings.size
    last = PlainPicture(size: size)
  }

  package func suits(_ settings: VideoEncoderSettings, _ matrix: ColorSpace.Matrix) -> Bool {
    settings.size == size && settings.chroma == .quarter
  }

  package var hasFilters: Bool { false }

  package func encode(
    _ picture: InputPicture, quantizer: Int, keyFrame: Bool, kept: [Bool], movement: BlockMovement, isUpper: Bool
  ) -> CodedPicture {
    let isKey = keyFrame || count == 0
    count += 1
    if isKey { last = PlainPicture(size: size) }
    var scroll = 0
    if case .scroll(let rows) = movement { scroll = rows }
    var bytes = PlainBytes()
    bytes.write(isKey ? 1 : 0)
    for number in [size.width, size.height, quantizer, PlainBytes.unsigned(scroll)] { bytes.write(number) }
    let source = (0..<3).map { plane in
      let (stride, extent) = (picture.stride(ofPlane: plane), PlainPicture.format.planeExtent(plane, of: size))
      return picture.withPlane(plane) { samples in
        (0..<extent.rows).flatMap { y in (0..<extent.rowBytes).map { samples[y * stride + $0] } }
      }
    }
    var next = last
    for block in 0..<last.blockCount {
      let isCoded = isKey || !kept[block]
      bytes.write(isCoded ? 1 : 0)
      guard isCoded else { continue }
      last.forEachSample(of: block, scroll: scroll) { plane, at, from in
        let predicted = Int(last.planes[plane][from])
        let difference = Int(source[plane][at]) - predicted
        let level = (abs(difference) + quantizer / 2) / quantizer * difference.signum()
        bytes.write(level: level)
        next.planes[plane][at] = UInt8(clamping: predicted + level * quantizer)
      }
      bytes.endRun()
    }
    last = next
    return CodedPicture(data: bytes.bytes, isKeyFrame: isKey)
  }

  package func withReconstruction(
    _ body: (_ plane: Int, _ base: UnsafePointer<UInt8>, _ stride: Int, _ step: Int) -> Void
  ) {
    for plane in 0..<3 {
      last.planes[plane].withUnsafeBufferPointer { body(plane, $0.baseAddress!, last.width(plane), 1) }
    }
  }
}

extension PlainContext {
  /// The codec whose place it takes in a registry.
  package static let codec = VideoCodec.av1
  package static let scale = 1...63
  package static let group = 1
  package static let refinementPass = 2000

  /// Quantizer 1 codes every sample exactly.
  package static func goals(_ settings: VideoEncoderSettings) -> QuantizerGoals {
    QuantizerGoals(1, perfect: nil, moving: 6, readable: 10, legible: 24, coarsest: 48, first: 63)
      .limited(to: settings.quantizerRange, of: scale)
  }

  package static func costs(_ chroma: ChromaSampling) -> CostTable {
    CostTable(curve: [(1, 1), (8, 0.7), (24, 0.5), (63, 0.2)], usual: 400)
  }

  package static func codedSize(_ size: PixelSize, _ chroma: ChromaSampling) -> PixelSize { size }
}

/// Decodes what `PlainContext` codes; nil for anything else.
package struct PlainDecoder {
  private var last: PlainPicture?

  package init() {}

  package mutating func decode(_ data: [UInt8]) -> PlainPicture? {
    var bytes = PlainReader(data[...])
    guard let isKey = bytes.read(), let width = bytes.read(), let height = bytes.read(), let quantizer = bytes.read(),
      let distance = bytes.read(), 1..<65_536 ~= width, 1..<65_536 ~= height, 1...63 ~= quantizer
    else { return nil }
    let size = PixelSize(width: width, height: height)
    let scroll = PlainBytes.signed(distance)
    guard let last = isKey == 1 ? PlainPicture(size: size) : last, last.size == size, abs(scroll) < height else {
      return nil
    }
    var next = last
    for block in 0..<last.blockCount {
      guard let isCoded = bytes.read() else { return nil }
      guard isCoded == 1 else { continue }
      bytes.beginBlock()
      var isWhole = true
      last.forEachSample(of: block, scroll: scroll) { plane, at, from in
        guard let level = bytes.readLevel() else { return isWhole = false }
        next.planes[plane][at] = UInt8(clamping: Int(last.planes[plane][from]) + level * quantizer)
      }
      guard isWhole else { return nil }
    }
    self.last = next
    return next
  }
}

/// Numbers of seven bits a byte, the lowest first, and levels: the zeros before each, and then the level.
private struct PlainBytes {
  private(set) var bytes: [UInt8] = []
  private var zeros = 0

  static func unsigned(_ value: Int) -> Int { value < 0 ? -2 * value - 1 : 2 * value }
  static func signed(_ value: Int) -> Int { value % 2 == 1 ? -(value / 2) - 1 : value / 2 }

  mutating func write(_ value: Int) {
    var rest = value
    while rest >= 128 {
      bytes.append(UInt8(rest & 127 | 128))
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func write(level: Int) {
    guard level != 0 else { return zeros += 1 }
    write(zeros)
    write(Self.unsigned(level))
    zeros = 0
  }

  /// The rest of a block is zero.
  mutating func endRun() {
    if zeros > 0 { write(zeros) }
    zeros = 0
  }
}

private struct PlainReader {
  private var rest: ArraySlice<UInt8>
  private var zeros: Int?

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  mutating func read() -> Int? {
    var (value, shift) = (0, 0)
    while let byte = rest.popFirst() {
      value |= Int(byte & 127) << shift
      if byte < 128 { return value }
      shift += 7
      guard shift < 28 else { return nil }
    }
    return nil
  }

  /// The zeros at the end of a block have no level after them.
  mutating func beginBlock() { zeros = nil }

  mutating func readLevel() -> Int? {
    guard let run = zeros ?? read() else { return nil }
    guard run == 0 else {
      zeros = run - 1
      return 0
    }
    zeros = nil
    return read().map { PlainBytes.signed($0) }
  }
}
