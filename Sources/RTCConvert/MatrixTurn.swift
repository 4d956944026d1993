import RTCMedia

/// Turns one rectangle of a picture from BT.709 to BT.601, both limited range, in place.
///
/// With chroma c, d around 128:  Y += 0.1016 c + 0.1961 d,  c' = 0.9899 c − 0.1107 d,  d' = −0.0725 c + 0.9834 d:
/// the product of the two standards' matrices (ITU-R BT.601-7 §2.5.1, BT.709-6 §3.2).
struct MatrixTurn {
  private typealias Words = SIMD16<Int16>

  /// - Parameter rect: its corner on even coordinates.
  static func turn(_ rect: PixelRect, of picture: InputPicture) {
    let luma = picture.stride(ofPlane: 0)
    let chroma = (u: picture.stride(ofPlane: 1), v: picture.stride(ofPlane: 2))
    // The planes hold every row of `rect`, whose corner `address` gives; the picture outlives the loop.
    let (y, u, v) = unsafe (picture.address(0, rect), picture.address(1, rect), picture.address(2, rect))
    for row in 0..<(rect.height + 1) / 2 {
      let top = unsafe y + row * 2 * luma
      let bottom = unsafe row * 2 + 1 < rect.height ? top + luma : nil
      unsafe turnRow(top, bottom, u + row * chroma.u, v + row * chroma.v, width: rect.width)
    }
  }

  /// One row of chroma and the one or two rows of luma it colours.
  private static func turnRow(
    _ top: UnsafeMutablePointer<UInt8>, _ bottom: UnsafeMutablePointer<UInt8>?, _ u: UnsafeMutablePointer<UInt8>,
    _ v: UnsafeMutablePointer<UInt8>, width: Int
  ) {
    var sample = 0
    while (sample + 16) * 2 <= width {
      let offset = unsafe turnSixteen(u + sample, v + sample)
      unsafe add(offset, to: top + sample * 2)
      if let bottom = unsafe bottom { unsafe add(offset, to: bottom + sample * 2) }
      sample += 16
    }
    while sample * 2 < width {
      let offset = unsafe turnOne(u + sample, v + sample)
      for x in sample * 2..<min(sample * 2 + 2, width) {
        unsafe top[x] = UInt8(clamping: Int(top[x]) + offset)
        if let bottom = unsafe bottom { unsafe bottom[x] = UInt8(clamping: Int(bottom[x]) + offset) }
      }
      sample += 1
    }
  }

  /// Turns sixteen chroma samples; returns what their luma gains.
  private static func turnSixteen(_ u: UnsafeMutablePointer<UInt8>, _ v: UnsafeMutablePointer<UInt8>) -> Words {
    let middle = Words(repeating: 128)
    let c = unsafe Words(truncatingIfNeeded: UnsafeRawPointer(u).loadUnaligned(as: SIMD16<UInt8>.self)) &- middle
    let d = unsafe Words(truncatingIfNeeded: UnsafeRawPointer(v).loadUnaligned(as: SIMD16<UInt8>.self)) &- middle
    // The parts that differ from 1 are small, so that 16 bits hold the products.
    let round = Words(repeating: 256)
    let gain = (c &* 52 &+ d &* 100 &+ round) &>> 9
    let first = c &- ((c &* 5 &+ d &* 57 &+ round) &>> 9) &+ middle
    let second = d &- ((c &* 37 &+ d &* 9 &+ round) &>> 9) &+ middle
    unsafe store(first, to: u)
    unsafe store(second, to: v)
    return gain
  }

  private static func turnOne(_ u: UnsafeMutablePointer<UInt8>, _ v: UnsafeMutablePointer<UInt8>) -> Int {
    let (c, d) = unsafe (Int(u.pointee) - 128, Int(v.pointee) - 128)
    unsafe u.pointee = UInt8(clamping: c - ((c * 5 + d * 57 + 256) >> 9) + 128)
    unsafe v.pointee = UInt8(clamping: d - ((c * 37 + d * 9 + 256) >> 9) + 128)
    return (c * 52 + d * 100 + 256) >> 9
  }

  /// Adds each word to two neighbours of thirty-two luma samples.
  private static func add(_ offset: Words, to y: UnsafeMutablePointer<UInt8>) {
    let pairs = unsafe UnsafeRawPointer(y).loadUnaligned(as: SIMD32<UInt8>.self)
    let even = Words(truncatingIfNeeded: pairs.evenHalf) &+ offset
    let odd = Words(truncatingIfNeeded: pairs.oddHalf) &+ offset
    var result = SIMD32<UInt8>()
    result.evenHalf = bytes(even)
    result.oddHalf = bytes(odd)
    unsafe UnsafeMutableRawPointer(y).storeBytes(of: result, as: SIMD32<UInt8>.self)
  }

  private static func store(_ words: Words, to target: UnsafeMutablePointer<UInt8>) {
    unsafe UnsafeMutableRawPointer(target).storeBytes(of: bytes(words), as: SIMD16<UInt8>.self)
  }

  private static func bytes(_ words: Words) -> SIMD16<UInt8> {
    SIMD16<UInt8>(truncatingIfNeeded: words.clamped(lowerBound: .zero, upperBound: Words(repeating: 255)))
  }
}
