import RTCMedia
import RTCPrimitives

/// Finds by how many pixels a part of the picture has probably moved: down or up, to the right or to the left.
///
/// Lines of pixels are hashed in a few probes: strips across the direction of the movement. Four lines together that
/// occur once in the old picture, and again in the new one, vote for the distance between the two places. Lines of
/// one colour do not vote, and neither do lines that are repeated.
struct MoveSearch {
  enum Axis: CaseIterable {
    /// Rows move up or down, as in a scroll.
    case vertical
    case horizontal
  }

  /// Lines that vote together.
  private static let window = 4
  /// The number of probes.
  private static let maximumProbes = 5
  /// Blocks along the side of a probe that lies across the movement.
  private static let probeSize = (vertical: 4, horizontal: 2)
  /// Votes without which nothing has moved.
  private static let leastVotes = 8
  /// Votes that are enough if they are three of four.
  private static let clearVotes = 32
  /// Distances that are found at most: pixels are compared for each.
  private static let maximumFound = 2
  /// Pixels beside the changed part in which the source of a movement is searched as well: blank lines at its edge
  /// have not changed.
  private static let margin = 64

  private let axis: Axis
  /// The pixels along the axis in which lines are hashed.
  private let range: Range<Int>
  /// By distance, from the most negative on.
  private var votes: [Int32]
  /// The place in the old picture of each window; addressed by its hash.
  private var table: [(hash: UInt64, place: Int32)]

  /// The probes that have not voted yet.
  private var probes: [PixelRect] = []
  /// The distances that were found.
  private var found: [Int] = []

  /// - Parameter changed: the blocks in which the pictures differ.
  init(_ axis: Axis, of changed: BlockSet) {
    self.axis = axis
    guard let bounds = changed.bounds(in: changed.whole) else {
      (range, votes, table) = (0..<0, [0], [])
      return
    }
    let (pixels, size) = (bounds.pixels(in: changed.size), changed.size)
    let (first, end, whole) =
      axis == .vertical ? (pixels.y, pixels.maxY, size.height) : (pixels.x, pixels.maxX, size.width)
    range = max(0, first - Self.margin)..<min(whole, end + Self.margin)
    votes = Array(repeating: 0, count: 2 * range.count + 1)
    var slots = 64
    while slots < 2 * range.count { slots *= 2 }
    table = Array(repeating: (0, -1), count: slots)
    probes = probes(of: changed, in: bounds)
  }

  /// The next distance, as soon as most of the changed blocks vote for it, or when all have voted; nil: there is none.
  mutating func next(_ old: borrowing PixelRows, _ new: borrowing PixelRows) -> Int? {
    while found.count < Self.maximumFound, !probes.isEmpty {
      let probe = probes.removeFirst()
      vote(lines(of: old, probe), lines(of: new, probe))
      guard let (distance, count) = winner, !found.contains(distance) else { continue }
      guard probes.isEmpty || count >= Self.clearVotes && 4 * Int(count) >= 3 * votes.reduce(0, { $0 + Int($1) }) else {
        continue
      }
      found.append(distance)
      return distance
    }
    return nil
  }

  /// Strips with the most changed blocks; as rectangles across which lines are hashed.
  private func probes(of changed: BlockSet, in bounds: BlockRect) -> [PixelRect] {
    let side = BlockSet.blockSize
    let (step, first, end) =
      axis == .vertical
      ? (Self.probeSize.vertical, bounds.column, bounds.endColumn)
      : (Self.probeSize.horizontal, bounds.row, bounds.endRow)
    var weights: [(place: Int, count: Int)] = []
    for place in stride(from: first, to: end, by: step) {
      let length = min(step, end - place)
      let rect =
        axis == .vertical
        ? BlockRect(column: place, row: bounds.row, width: length, height: bounds.height)
        : BlockRect(column: bounds.column, row: place, width: bounds.width, height: length)
      weights.append((place, changed.count(in: rect)))
    }
    weights.sort { $0.count > $1.count }
    return weights.prefix(Self.maximumProbes).filter { $0.count > 0 }.map { weight in
      let across = PixelRect(changed.size)
      let strip =
        axis == .vertical
        ? PixelRect(x: weight.place * side, y: range.lowerBound, width: step * side, height: range.count)
        : PixelRect(x: range.lowerBound, y: weight.place * side, width: range.count, height: step * side)
      return strip.intersection(across)
    }
  }

  // MARK: - Hashes

  private typealias Pixels = SIMD4<UInt32>

  /// The hash of each line of a probe.
  private func lines(of picture: borrowing PixelRows, _ probe: PixelRect) -> [UInt64] {
    switch axis {
    case .vertical:
      var hashes: [UInt64] = []
      hashes.reserveCapacity(probe.height)
      for y in probe.y..<probe.maxY { hashes.append(Self.hash(picture.line(y, from: probe.x, count: probe.width))) }
      return hashes
    case .horizontal:
      var hashes = [UInt64](repeating: 0, count: probe.width)
      for first in stride(from: 0, to: probe.width, by: 16) {
        // Sixteen columns at once, as memory is read fastest; the last may be some of those before them.
        let left = max(0, min(first, probe.width - 16))
        guard left + 16 <= probe.width else { break }
        var state = SIMD16<UInt32>(repeating: 1)
        for y in probe.y..<probe.maxY {
          let line = picture.line(y, from: probe.x + left, count: 16)
          // All of it.
          let pixels = unsafe line.unsafeLoadUnaligned(fromUncheckedByteOffset: 0, as: SIMD16<UInt32>.self)
          state = Self.mixed(state, pixels & PixelRows.mask)
        }
        for index in 0..<16 { hashes[left + index] = UInt64(state[index]) &* Self.factor }
      }
      return hashes
    }
  }

  private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15

  /// A step of Jenkins's one-at-a-time hash, in each lane.
  @inline(__always)
  private static func mixed<Lanes: SIMD<UInt32>>(_ state: Lanes, _ pixels: Lanes) -> Lanes {
    var state = state &+ pixels
    state = state &+ state &<< 10
    return state ^ state &>> 6
  }

  private static func hash(_ line: borrowing RawSpan) -> UInt64 {
    // Two that are independent, so that steps of both run at once.
    var (a, b) = (Pixels(repeating: 1), Pixels(repeating: 2))
    var offset = 0
    while offset + 32 <= line.byteCount {
      // Within the line.
      let (first, second) = unsafe (
        line.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: Pixels.self),
        line.unsafeLoadUnaligned(fromUncheckedByteOffset: offset + 16, as: Pixels.self)
      )
      a = mixed(a, first & PixelRows.mask)
      b = mixed(b, second & PixelRows.mask)
      offset += 32
    }
    while offset < line.byteCount {
      // A pixel of four bytes, as the line has whole pixels.
      let pixel = unsafe line.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self)
      a = mixed(a, Pixels(pixel & PixelRows.mask, 0, 0, 0))
      offset += 4
    }
    let all = mixed(mixed(a, b), b)
    var hash = UInt64(all.x) << 32 | UInt64(all.y)
    hash = (hash ^ hash >> 29) &* factor ^ (UInt64(all.z) << 32 | UInt64(all.w))
    return (hash ^ hash >> 29) &* factor
  }

  /// Calls `body` with the hash of each window of lines that are not all equal, and its first line.
  private static func forEachWindow(_ lines: [UInt64], _ body: (_ hash: UInt64, _ first: Int) -> Void) {
    guard lines.count >= window else { return }
    for first in 0...lines.count - window {
      var hash = lines[first]
      var isFlat = true
      for line in first + 1..<first + window {
        if lines[line] != lines[first] { isFlat = false }
        hash = (hash ^ (hash >> 29)) &* factor &+ lines[line]
      }
      if !isFlat { body(hash | 1, first) }
    }
  }

  // MARK: - Votes

  private static let repeated: Int32 = -2

  private mutating func vote(_ old: [UInt64], _ new: [UInt64]) {
    for index in table.indices { table[index] = (0, -1) }
    Self.forEachWindow(old) { hash, first in
      let slot = slot(of: hash)
      table[slot] = table[slot].hash == 0 ? (hash, Int32(first)) : (hash, Self.repeated)
    }
    Self.forEachWindow(new) { hash, first in
      let (found, place) = table[slot(of: hash)]
      guard found == hash, place >= 0, Int(place) != first else { return }
      votes[first - Int(place) + range.count] += 1
    }
  }

  /// The slot with this hash, or the empty one for it. There are twice as many as windows.
  private func slot(of hash: UInt64) -> Int {
    let mask = table.count - 1
    var slot = Int(truncatingIfNeeded: hash >> 20) & mask
    while table[slot].hash != 0, table[slot].hash != hash { slot = (slot + 1) & mask }
    return slot
  }

  /// The smallest of the distances with the most votes.
  private var winner: (distance: Int, votes: Int32)? {
    guard let most = votes.max(), most >= Self.leastVotes else { return nil }
    let distances = votes.indices.lazy.filter { votes[$0] == most }.map { $0 - range.count }
    return distances.min { abs($0) < abs($1) }.map { ($0, most) }
  }
}
