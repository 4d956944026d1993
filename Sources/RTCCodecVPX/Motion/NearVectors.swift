/// The vectors that the macroblocks around a macroblock suggest for it (RFC 6386, section 16.3), in whole lines, as
/// columns do not move here.
struct NearVectors {
  /// The most likely vector, and below the next likely one; 0 means none.
  private(set) var nearest = 0
  private(set) var near = 0
  /// The vector from which a new vector is coded as a difference.
  private(set) var best = 0
  /// The weights that speak for no movement, `nearest` and `near`.
  private var counts = (0, 0, 0)

  /// - Parameters:
  ///   - above: the vector of the macroblock above, in lines; nil if that lies outside of the picture or is not predicted
  ///     from the last frame.
  ///   - left: the vector of the macroblock on the left.
  ///   - corner: the vector of the macroblock above that.
  ///   - row: the macroblock's row.
  ///   - rows: the number of rows of the picture.
  @inline(__always)
  init(above: Int?, left: Int?, corner: Int?, row: Int, rows: Int) {
    let isStill = (above ?? 0) | (left ?? 0) | (corner ?? 0) == 0
    count(above, 2)
    count(left, 2)
    count(corner, 1)
    guard !isStill else { return }
    if third != 0, third == nearest { counts.1 += 1 }
    if counts.2 > counts.1 { (counts.1, counts.2, nearest, near) = (counts.2, counts.1, near, nearest) }
    if counts.1 >= counts.0 { best = nearest }
    // A vector leads no farther than one macroblock beyond the edges.
    let reach = -(row + 1) * 16...(rows - row) * 16
    func clamp(_ vector: Int) -> Int { max(reach.lowerBound, min(vector, reach.upperBound)) }
    (nearest, near, best) = (clamp(nearest), clamp(near), clamp(best))
  }

  /// The last of three different vectors, if there are three.
  private var third = 0

  private mutating func count(_ vector: Int?, _ weight: Int) {
    guard let vector else { return }
    guard vector != 0 else { return counts.0 += weight }
    // Each is compared with the one before it alone.
    if counts.1 == 0 {
      nearest = vector
      counts.1 = weight
    } else if counts.2 == 0 {
      guard vector != nearest else { return counts.1 += weight }
      near = vector
      counts.2 = weight
    } else {
      guard vector != near else { return counts.2 += weight }
      third = vector
    }
  }

  /// How likely the next question of a mode is answered by no, in 256ths: does it move, not as `nearest`, not as `near`,
  /// in parts.
  func probability(_ question: Int) -> UInt8 {
    // None around is split.
    let count = question == 0 ? counts.0 : question == 1 ? counts.1 : question == 2 ? counts.2 : 0
    return Self.contexts[count * 4 + question]
  }

  /// Four questions, by how much speaks for what is asked.
  private static let contexts: [UInt8] = [
    7, 1, 1, 143, 14, 18, 14, 107, 135, 64, 57, 68, 60, 56, 128, 65, 159, 134, 128, 34, 234, 188, 128, 28,
  ]
}
