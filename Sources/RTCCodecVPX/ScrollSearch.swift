import RTCMedia

/// Finds out by how much a part of a picture scrolled, from the sums of its lines: far enough for libvpx to lose it,
/// or not.
struct ScrollSearch {
  /// Steps of more lines than this are not looked for.
  static let reach = 240
  private static let bands = 4
  /// The most that one line differs, in quarters of a level.
  private static let outlier: Int32 = 80

  /// The sums of the lines of a luma plane within `rect`, in bands from left to right.
  @unsafe
  static func profile(_ plane: VP8Context.Plane, _ rect: PixelRect) -> [Int32] {
    let width = rect.width / bands
    var sums = [Int32](repeating: 0, count: rect.height * bands)
    for line in 0..<rect.height {
      for band in 0..<bands {
        let start = unsafe plane.base + (rect.y + line) * plane.stride + rect.x + band * width
        var sum: Int32 = 0
        for index in 0..<width { sum &+= Int32(unsafe start[index]) }
        sums[line * bands + band] =
          sum / Int32(max(1, width)) * 4 + sum % Int32(max(1, width)) * 4 / Int32(max(1, width))
      }
    }
    return sums
  }

  /// A profile without what changes within fewer than `lines` lines, as of a picture without detail.
  static func smoothed(_ profile: [Int32], over lines: Int) -> [Int32] {
    let count = profile.count / bands
    guard lines > 1, count > lines else { return profile }
    var result = profile
    for band in 0..<bands {
      var sum: Int32 = 0
      for line in 0..<count {
        sum += profile[line * bands + band]
        if line >= lines { sum -= profile[(line - lines) * bands + band] }
        result[line * bands + band] = sum / Int32(min(lines, line + 1))
      }
    }
    return result
  }

  /// By how many lines the content moved (down counts positive), 0 when it stands still; nil when it is not the same.
  static func distance(from old: [Int32], to new: [Int32]) -> Int? {
    let lines = new.count / bands
    let limit = min(reach, lines / 2)
    guard limit > 0, old.count == new.count else { return nil }
    var best = (difference: Int.max, lines: 0)
    let still = difference(old, new, shift: 0)
    // One level: what was said to be new is what was there.
    guard still >= 4 else { return 0 }
    for shift in -limit...limit {
      let difference = difference(old, new, shift: shift)
      if difference < best.difference { best = (difference, shift) }
    }
    // In quarters of a level, per line and band.
    guard best.difference < 60, best.difference * 9 < max(1, still) * 5 else { return nil }
    return best.lines
  }

  /// The mean difference of the lines that both have, times four.
  private static func difference(_ old: [Int32], _ new: [Int32], shift: Int) -> Int {
    let lines = new.count / bands - abs(shift)
    let (oldStart, newStart) = (max(0, -shift) * bands, max(0, shift) * bands)
    var sum: Int32 = 0
    let (oldSpan, newSpan) = (old.span, new.span)
    // Edges that stand still count for no more than letters.
    for index in 0..<lines * bands { sum &+= min(outlier, abs(oldSpan[oldStart + index] &- newSpan[newStart + index])) }
    return Int(sum) / max(1, lines * bands)
  }
}
