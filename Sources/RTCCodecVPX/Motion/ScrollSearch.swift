import RTCMedia

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

/// A number for each line of a part of a picture, different for different samples.
struct LineHashes {
  /// The number of parts side by side in which each line is hashed, as something beside the scrolling part may change
  /// as well.
  static let bands = 4

  /// The rectangle whose lines are hashed.
  let rect: PixelRect
  /// The hashes of each line, one for each band.
  private let values: [SIMD4<UInt64>]

  /// Hashes the lines of a plane within `rect`; 0.2 ms for a 1080p page.
  @unsafe
  init(_ plane: VPXPlane, _ rect: PixelRect) {
    self.rect = rect
    let width = rect.width / Self.bands
    values = (0..<rect.height).map { line in
      // Within the plane, as the rectangle is.
      let a = unsafe UnsafeRawPointer(plane.base + (rect.y + line) * plane.stride + rect.x)
      let (b, c, d) = unsafe (a + width, a + 2 * width, a + 3 * width)
      // All at a time, as each waits for its own multiplication.
      var hashes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
      var offset = 0
      while offset + 8 <= width {
        unsafe Self.add(a.loadUnaligned(fromByteOffset: offset, as: UInt64.self), to: &hashes.0)
        unsafe Self.add(b.loadUnaligned(fromByteOffset: offset, as: UInt64.self), to: &hashes.1)
        unsafe Self.add(c.loadUnaligned(fromByteOffset: offset, as: UInt64.self), to: &hashes.2)
        unsafe Self.add(d.loadUnaligned(fromByteOffset: offset, as: UInt64.self), to: &hashes.3)
        offset &+= 8
      }
      return SIMD4(hashes.0, hashes.1, hashes.2, hashes.3)
    }
  }

  @inline(__always)
  private static func add(_ samples: UInt64, to hash: inout UInt64) {
    hash ^= samples
    hash = hash &* 0x9E37_79B9_7F4A_7C15
    hash ^= hash >> 29
  }

  /// The hashes of one band, from the top.
  func band(_ index: Int) -> [UInt64] { values.map { $0[index] } }
}

/// Finds the only line that has a hash: a table of twice as many places as lines, in which each is looked for from the
/// place that its hash says.
struct UniqueLines {
  /// No line has it.
  private static let free: Int32 = -2
  /// Several lines have it, as blank ones do.
  private static let common: Int32 = -1

  private var hashes: [UInt64]
  private var lines: [Int32]
  private let shift: UInt64

  init(_ all: [UInt64]) {
    let bits = max(1, Int.bitWidth - (all.count * 2).leadingZeroBitCount)
    shift = UInt64(64 - bits)
    hashes = Array(repeating: 0, count: 1 << bits)
    lines = Array(repeating: Self.free, count: 1 << bits)
    for (line, hash) in all.enumerated() {
      let place = place(of: hash)
      lines[place] = lines[place] == Self.free ? Int32(line) : Self.common
      hashes[place] = hash
    }
  }

  /// Nil also when several have it.
  func line(of hash: UInt64) -> Int? {
    let line = lines[place(of: hash)]
    return line < 0 ? nil : Int(line)
  }

  /// Where it stands, or could.
  private func place(of hash: UInt64) -> Int {
    var place = Int(truncatingIfNeeded: (hash &* 0xD6E8_FEB8_6659_FD93) >> shift)
    // Half of the places are free.
    while lines[place] != Self.free, hashes[place] != hash { place = (place + 1) & (lines.count - 1) }
    return place
  }
}
