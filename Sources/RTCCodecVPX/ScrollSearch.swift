/// Finds out by how much a part of a picture scrolled: lines that are the same, sample by sample, and stand elsewhere.
struct ScrollSearch {
  /// Fewer lines that moved together are chance.
  private static let leastLines = 16

  /// By how many lines most of a rectangle moved from `old` to `new` (down counts positive); nil when it did not.
  ///
  /// - Parameter old: of the same rectangle as `new`.
  static func distance(from old: LineHashes, to new: LineHashes) -> Int? {
    let limit = min(MotionField.reach, new.rect.height - leastLines)
    guard limit > 0 else { return nil }
    var votes = [Int](repeating: 0, count: 2 * limit + 1)
    for band in 0..<LineHashes.bands {
      let places = UniqueLines(old.band(band))
      for (line, hash) in new.band(band).enumerated() {
        guard let place = places.line(of: hash), abs(line - place) <= limit else { continue }
        votes[line - place + limit] += 1
      }
    }
    guard let best = votes.indices.max(by: { votes[$0] < votes[$1] }), votes[best] >= leastLines else { return nil }
    return best == limit ? nil : best - limit
  }
}
