import RTCMedia

/// Finds out by how much a part of a picture scrolled: lines that are the same, sample by sample, and stand elsewhere.
struct ScrollSearch {
  /// A line is looked at in so many parts, as something beside what scrolls may change as well.
  private static let bands = 4
  /// Fewer lines that moved together are chance.
  private static let leastLines = 16

  /// A number for each line of each band of a plane within `rect`, different for different samples; 0.1 ms for a 1080p page.
  @unsafe
  private static func hashes(_ plane: VPXPlane, _ rect: PixelRect) -> [[UInt64]] {
    let width = rect.width / bands
    return (0..<bands).map { band in
      (0..<rect.height).map { line in
        let start = unsafe UnsafeRawPointer(plane.base + (rect.y + line) * plane.stride + rect.x + band * width)
        var hash: UInt64 = 0
        for offset in stride(from: 0, to: width - 7, by: 8) {
          // Within the line, as the rectangle is within the plane.
          unsafe hash ^= start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
          hash = hash &* 0x9E37_79B9_7F4A_7C15
          hash ^= hash >> 29
        }
        return hash
      }
    }
  }

  /// By how many lines most of `rect` moved from `old` to `new` (down counts positive); nil when it did not.
  @unsafe
  static func distance(from old: VPXPlane, to new: VPXPlane, in rect: PixelRect) -> Int? {
    guard rect.width >= 64, rect.height >= 64 else { return nil }
    let limit = min(MotionField.reach, rect.height - leastLines)
    var votes = [Int](repeating: 0, count: 2 * limit + 1)
    for (old, new) in unsafe zip(hashes(old, rect), hashes(new, rect)) {
      let places = uniquePlaces(old)
      for (line, hash) in new.enumerated() {
        guard let place = places[hash], place >= 0, abs(line - place) <= limit else { continue }
        votes[line - place + limit] += 1
      }
    }
    guard let best = votes.indices.max(by: { votes[$0] < votes[$1] }), votes[best] >= leastLines else { return nil }
    return best == limit ? nil : best - limit
  }

  /// Where each line stands; -1 for those that stand in several places, as blank ones do.
  private static func uniquePlaces(_ hashes: [UInt64]) -> [UInt64: Int] {
    var places: [UInt64: Int] = [:]
    places.reserveCapacity(hashes.count)
    for (line, hash) in hashes.enumerated() { places[hash] = places[hash] == nil ? line : -1 }
    return places
  }
}
