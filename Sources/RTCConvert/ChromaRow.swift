/// Makes one line of both chroma planes (BT.601, limited range) of two lines of packed pixels.
///
/// libyuv's own rounds down where the processor has SSSE3 and has coarser factors, which shows on plain colours: they
/// come out up to three levels off.
@unsafe
struct ChromaRow {
  let order: PackedPixels.Order
  /// The two lines; the same twice at the end of a picture of odd height.
  let top: UnsafePointer<UInt8>
  let bottom: UnsafePointer<UInt8>
  /// The destination of the samples.
  let u: UnsafeMutablePointer<UInt8>
  let v: UnsafeMutablePointer<UInt8>

  /// - Parameter width: in pixels.
  func convert(width: Int) {
    var sample = 0
    while (sample + 8) * 2 <= width {
      unsafe convertEight(at: sample)
      sample += 8
    }
    while sample * 2 < width {
      unsafe convertOne(at: sample, pixels: min(2, width - sample * 2))
      sample += 1
    }
  }

  private func convertEight(at sample: Int) {
    let a = unsafe UnsafeRawPointer(top + sample * 8).loadUnaligned(as: SIMD16<UInt32>.self)
    let b = unsafe UnsafeRawPointer(bottom + sample * 8).loadUnaligned(as: SIMD16<UInt32>.self)
    // Two components a word, so that sums of four pixels fit.
    let mask = SIMD16<UInt32>(repeating: 0x00FF_00FF)
    let outer = (a & mask) &+ (b & mask)
    let inner = ((a &>> 8) & mask) &+ ((b &>> 8) & mask)
    let half = SIMD8<UInt32>(repeating: 0x0002_0002)
    let outerSum = unsafe unsafeBitCast(outer.evenHalf &+ outer.oddHalf &+ half, to: SIMD16<Int16>.self)
    let innerSum = unsafe unsafeBitCast(inner.evenHalf &+ inner.oddHalf &+ half, to: SIMD16<Int16>.self)
    let (first, green, third) = (outerSum.evenHalf &>> 2, innerSum.evenHalf &>> 2, outerSum.oddHalf &>> 2)
    let (blue, red) = unsafe order == .bgra ? (first, third) : (third, first)
    let round = SIMD8<Int16>(repeating: 128)
    // 112.439 B - 74.494 G - 37.945 R and 112.439 R - 94.154 G - 18.285 B, in parts that fit into 16 bits.
    let uRest = (blue &* 7 &- green &* 8 &+ red) &>> 4
    let vRest = (red &* 14 &- green &* 5 &- blue &* 9) &>> 5
    let uWords = ((blue &* 112 &- green &* 74 &- red &* 38 &+ uRest &+ round) &>> 8) &+ round
    let vWords = ((red &* 112 &- green &* 94 &- blue &* 18 &+ vRest &+ round) &>> 8) &+ round
    let (uBytes, vBytes) = unsafe (
      unsafeBitCast(uWords, to: SIMD16<UInt8>.self).evenHalf, unsafeBitCast(vWords, to: SIMD16<UInt8>.self).evenHalf
    )
    unsafe UnsafeMutableRawPointer(u + sample).storeBytes(of: uBytes, as: SIMD8<UInt8>.self)
    unsafe UnsafeMutableRawPointer(v + sample).storeBytes(of: vBytes, as: SIMD8<UInt8>.self)
  }

  private func convertOne(at sample: Int, pixels: Int) {
    let (left, right) = (sample * 8, sample * 8 + (pixels - 1) * 4)
    func mean(_ component: Int) -> Int {
      let sum = unsafe Int(top[left + component]) + Int(top[right + component])
      return unsafe (sum + Int(bottom[left + component]) + Int(bottom[right + component]) + 2) >> 2
    }
    let green = mean(1)
    let (blue, red) = unsafe order == .bgra ? (mean(0), mean(2)) : (mean(2), mean(0))
    let uRest = (7 * blue - 8 * green + red) >> 4
    let vRest = (14 * red - 5 * green - 9 * blue) >> 5
    unsafe u[sample] = UInt8(((112 * blue - 74 * green - 38 * red + uRest + 128) >> 8) + 128)
    unsafe v[sample] = UInt8(((112 * red - 94 * green - 18 * blue + vRest + 128) >> 8) + 128)
  }
}
