/// The picture a decoder makes of a `MotionFrame`, which the next frame is predicted from: planes of whole macroblocks, as
/// libvpx keeps them.
@safe
final class ReferencePicture {
  let columns: Int
  let rows: Int
  private let memory: UnsafeMutablePointer<UInt8>

  init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
    unsafe memory = UnsafeMutablePointer.allocate(capacity: columns * rows * 384)
    unsafe memory.initialize(repeating: 0, count: columns * rows * 384)
  }

  deinit { unsafe memory.deallocate() }

  /// Samples, whole macroblocks side by side; as long as this object lives.
  @unsafe
  func plane(_ index: Int) -> (base: UnsafeMutablePointer<UInt8>, stride: Int) {
    let luma = columns * rows * 256
    let base = unsafe memory + (index == 0 ? 0 : luma + (index - 1) * luma / 4)
    return unsafe (base, columns * (index == 0 ? 16 : 8))
  }

  /// All three planes, to read; as long as this object lives.
  @unsafe
  var planes: [VPXPlane] {
    unsafe (0..<3).map { index in
      let (base, stride) = unsafe plane(index)
      return unsafe VPXPlane(base: UnsafePointer(base), stride: stride)
    }
  }

  /// Takes in what `field` makes of `last`; up to 1 ms for 1080p.
  /// - Parameters:
  ///   - last: planes of whole macroblocks; `field` leads nowhere beyond them.
  ///   - isSame: this picture has the same samples already, so that only what moves is copied.
  @unsafe
  func take(_ field: MotionField, from last: [VPXPlane], isSame: Bool) {
    for row in 0..<rows {
      var column = 0
      while column < columns {
        let vector = field.vector(row, column)
        let first = column
        while column < columns, field.vector(row, column) == vector { column += 1 }
        if isSame, vector == 0 { continue }
        for index in 0..<3 { unsafe copy(index, from: last[index], row: row, columns: first..<column, vector: vector) }
      }
    }
  }

  /// Moves macroblocks of this picture itself, as `take` would from a copy of it.
  /// - Returns: false, and nothing is changed, if lines that are still needed would be overwritten.
  func move(_ field: MotionField) -> Bool {
    guard let vector = field.commonVector else { return true }
    // Between two lines, colours are a mean of the two lines above that place to the three below it.
    guard vector & 1 == 0 || vector >= 4 || vector <= -5 else { return false }
    let last = unsafe planes
    // Towards the lines that the content comes from, so that each line is read before it is overwritten.
    for step in 0..<rows {
      let row = vector > 0 ? step : rows - 1 - step
      var column = 0
      while column < columns {
        let first = column
        while column < columns, field.vector(row, column) == vector { column += 1 }
        for index in 0..<3 where column > first {
          unsafe copy(index, from: last[index], row: row, columns: first..<column, vector: vector)
        }
        while column < columns, field.vector(row, column) != vector { column += 1 }
      }
    }
    return true
  }

  /// Copies macroblocks of one row that have the same vector, towards the lines that they come from.
  @unsafe
  private func copy(_ index: Int, from last: VPXPlane, row: Int, columns: Range<Int>, vector: Int) {
    let (target, stride) = unsafe plane(index)
    let side = index == 0 ? 16 : 8
    let (start, count) = (columns.lowerBound * side, columns.count * side)
    for step in 0..<side {
      let line = row * side + (vector > 0 ? step : side - 1 - step)
      let to = unsafe target + line * stride + start
      if index == 0 || vector & 1 == 0 {
        unsafe to.update(from: last.base + (line + vector * side / 16) * last.stride + start, count: count)
      } else {
        unsafe interpolate(last, above: line + (vector >> 1), start: start, into: to, count: count)
      }
    }
  }

  /// Makes the line halfway between `above` and the one below it, with VP8's six taps (RFC 6386, section 18.3).
  @unsafe
  private func interpolate(
    _ plane: VPXPlane, above: Int, start: Int, into target: UnsafeMutablePointer<UInt8>, count: Int
  ) {
    // Beyond the edges the last line goes on.
    let lines = unsafe (-2...3).map { unsafe plane.base + max(0, min(above + $0, rows * 8 - 1)) * plane.stride + start }
    let (a, b, c, d, e, f) = unsafe (lines[0], lines[1], lines[2], lines[3], lines[4], lines[5])
    for index in 0..<count {
      let outer = unsafe 3 * (Int32(a[index]) + Int32(f[index])) - 16 * (Int32(b[index]) + Int32(e[index]))
      let sum = unsafe outer + 77 * (Int32(c[index]) + Int32(d[index])) + 64
      unsafe target[index] = UInt8(truncatingIfNeeded: max(0, min(255, sum >> 7)))
    }
  }

  // MARK: Samples

  /// Four by four samples from column `x` and line `y` of a plane on, which lie within it.
  func block(_ index: Int, x: Int, y: Int) -> BlockTransform.Matrix {
    let (base, stride) = unsafe plane(index)
    let first = unsafe UnsafePointer(base + y * stride + x)
    return unsafe (
      VPXPlane.four(first), VPXPlane.four(first + stride), VPXPlane.four(first + 2 * stride),
      VPXPlane.four(first + 3 * stride)
    )
  }

  /// Sets them, to 0…255.
  func setBlock(_ index: Int, x: Int, y: Int, _ block: BlockTransform.Matrix) {
    let (base, stride) = unsafe plane(index)
    let first = unsafe UnsafeMutableRawPointer(base + y * stride + x)
    func set(_ line: Int, _ samples: SIMD4<Int32>) {
      let bounded = samples.clamped(lowerBound: SIMD4(repeating: 0), upperBound: SIMD4(repeating: 255))
      unsafe first.storeBytes(
        of: SIMD4<UInt8>(truncatingIfNeeded: bounded), toByteOffset: line * stride, as: SIMD4<UInt8>.self)
    }
    set(0, block.0)
    set(1, block.1)
    set(2, block.2)
    set(3, block.3)
  }

  /// Four samples of line `y` from column `x` on.
  func four(_ index: Int, x: Int, y: Int) -> SIMD4<Int32> {
    let (base, stride) = unsafe plane(index)
    return unsafe VPXPlane.four(UnsafePointer(base + y * stride + x))
  }

  /// The sample at column `x` of line `y`.
  func sample(_ index: Int, x: Int, y: Int) -> Int32 {
    let (base, stride) = unsafe plane(index)
    return Int32(unsafe base[y * stride + x])
  }
}
