extension String {
  /// The one of `names` that somebody who wrote this probably meant; nil when none is near.
  package func nearest(of names: [String]) -> String? {
    let near = names.map { ($0, editDistance(to: $0)) }.min { $0.1 < $1.1 }
    guard let (name, distance) = near, distance <= max(1, name.count / 3) else { return nil }
    return name
  }

  /// How many characters are to be inserted, left out, replaced or swapped with their neighbour to make `other` of it.
  private func editDistance(to other: String) -> Int {
    let (a, b) = (Array(lowercased().prefix(64)), Array(other))
    var older: [Int] = []
    var before = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var best = Swift.min(before[j + 1] + 1, row[j] + 1, before[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = Swift.min(best, older[j - 1] + 1) }
        row.append(best)
      }
      (older, before) = (before, row)
    }
    return before[b.count]
  }
}
