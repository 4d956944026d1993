import Glibc
import RTCMedia

/// Compares macroblocks of a picture with another place in the last picture. The owners of both must be held meanwhile.
@safe
struct MovedComparison {
  private let size: PixelSize
  /// The planes of luma of the picture and of the last picture.
  private let luma: (VPXPlane, VPXPlane)
  private let colours: ((VPXPlane, VPXPlane), (VPXPlane, VPXPlane))
  /// The number of lines by which the place in the last picture is further down.
  private let vector: Int

  /// - Parameters:
  ///   - source: the planes of a picture of `size`.
  ///   - last: the planes of the last picture, of the same size.
  @unsafe
  init(size: PixelSize, source: [VPXPlane], last: [VPXPlane], vector: Int) {
    self.size = size
    self.vector = vector
    unsafe luma = (source[0], last[0])
    unsafe colours = ((source[1], last[1]), (source[2], last[2]))
  }

  /// Whether a macroblock is equal to the place in the last picture.
  func isSame(_ row: Int, _ column: Int) -> Bool {
    let lines = row * 16..<min(row * 16 + 16, size.height)
    guard lines.lowerBound + vector >= 0, lines.upperBound + vector <= size.height else { return false }
    if size.width - column * 16 >= 16 {
      // Within both pictures.
      let a = unsafe UnsafeRawPointer(luma.0.base + lines.lowerBound * luma.0.stride + column * 16)
      let b = unsafe UnsafeRawPointer(luma.1.base + (lines.lowerBound + vector) * luma.1.stride + column * 16)
      guard unsafe Self.isSame(a, b, by: (luma.0.stride, luma.1.stride), lines: lines.count, columns: 2) else {
        return false
      }
    } else {
      for line in lines where unsafe !isSameLine(luma, line, column) { return false }
    }
    return hasSameColours(row, column)
  }

  /// Whether lines of eight or sixteen samples are equal.
  /// - Parameters:
  ///   - strides: the bytes from a line to the next.
  ///   - columns: of eight samples, 1 or 2.
  @unsafe
  @inline(__always)
  private static func isSame(
    _ a: UnsafeRawPointer, _ b: UnsafeRawPointer, by strides: (Int, Int), lines: Int, columns: Int
  ) -> Bool {
    var (a, b) = unsafe (a, b)
    for _ in 0..<lines {
      var difference = unsafe a.loadUnaligned(as: UInt64.self) ^ b.loadUnaligned(as: UInt64.self)
      if columns == 2 {
        difference |=
          unsafe a.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
          ^ b.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
      }
      if difference != 0 { return false }
      unsafe a += strides.0
      unsafe b += strides.1
    }
    return true
  }

  /// The number of a macroblock's luma lines that are equal to the place in the last picture.
  func sameLines(_ row: Int, _ column: Int) -> Int {
    var count = 0
    for line in row * 16..<min(row * 16 + 16, size.height) {
      guard line + vector >= 0, line + vector < size.height else { continue }
      if unsafe isSameLine(luma, line, column) { count += 1 }
    }
    return count
  }

  /// - Parameter line: within both pictures, `vector` further down too.
  @unsafe
  @inline(__always)
  private func isSameLine(_ planes: (VPXPlane, VPXPlane), _ line: Int, _ column: Int) -> Bool {
    let a = unsafe UnsafeRawPointer(planes.0.base + line * planes.0.stride + column * 16)
    let b = unsafe UnsafeRawPointer(planes.1.base + (line + vector) * planes.1.stride + column * 16)
    // The samples of the macroblock's line that are in the picture.
    let width = size.width - column * 16
    guard width >= 16 else { return unsafe memcmp(a, b, width) == 0 }
    return unsafe a.loadUnaligned(as: UInt64.self) == b.loadUnaligned(as: UInt64.self)
      && a.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == b.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
  }

  private func hasSameColours(_ row: Int, _ column: Int) -> Bool {
    // Of an odd number of lines, the samples of colours are not those of before; nor are the screen's own. Where the luma
    // moved, they did.
    guard vector & 1 == 0 else { return true }
    return unsafe hasSameColours(colours.0, row, column) && hasSameColours(colours.1, row, column)
  }

  @unsafe
  private func hasSameColours(_ planes: (VPXPlane, VPXPlane), _ row: Int, _ column: Int) -> Bool {
    let (width, height) = ((size.width + 1) / 2 - column * 8, (size.height + 1) / 2)
    let lines = row * 8..<min(row * 8 + 8, height)
    guard lines.lowerBound + vector / 2 >= 0, lines.upperBound + vector / 2 <= height else { return false }
    if width >= 8 {
      // Within both planes.
      let a = unsafe UnsafeRawPointer(planes.0.base + lines.lowerBound * planes.0.stride + column * 8)
      let b = unsafe UnsafeRawPointer(planes.1.base + (lines.lowerBound + vector / 2) * planes.1.stride + column * 8)
      return unsafe Self.isSame(a, b, by: (planes.0.stride, planes.1.stride), lines: lines.count, columns: 1)
    }
    for line in lines {
      // Within both planes.
      let a = unsafe UnsafeRawPointer(planes.0.base + line * planes.0.stride + column * 8)
      let b = unsafe UnsafeRawPointer(planes.1.base + (line + vector / 2) * planes.1.stride + column * 8)
      guard unsafe memcmp(a, b, width) == 0 else { return false }
    }
    return true
  }

  /// False where the picture is grey.
  func hasColours(_ row: Int, _ column: Int) -> Bool {
    unsafe hasColours(colours.0.0, row, column) || hasColours(colours.1.0, row, column)
  }

  @unsafe
  private func hasColours(_ plane: VPXPlane, _ row: Int, _ column: Int) -> Bool {
    let (width, height) = ((size.width + 1) / 2, (size.height + 1) / 2)
    for line in row * 8..<min(row * 8 + 8, height) {
      let start = unsafe plane.base + line * plane.stride
      for sample in column * 8..<min(column * 8 + 8, width) {
        guard unsafe abs(Int(start[sample]) - 128) <= 1 else { return true }
      }
    }
    return false
  }
}
