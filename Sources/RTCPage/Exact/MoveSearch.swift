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
  private static let probes = 5
  /// Blocks along the side of a probe that lies across the movement.
  private static let probeSize = (vertical: 4, horizontal: 2)
  /// Votes without which nothing has moved.
  private static let leastVotes = 8
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

  /// The distance for which most of the changed blocks vote; nil: there is none.
  static func distance(
    _ axis: Axis, of changed: BlockSet, _ old: borrowing PixelRows, _ new: borrowing PixelRows
  ) -> Int? {
    guard let bounds = changed.bounds(in: changed.whole) else { return nil }
    let pixels = bounds.pixels(in: changed.size)
    var search = MoveSearch(axis, pixels, in: changed.size)
    for probe in search.probes(of: changed, in: bounds) {
      search.vote(search.lines(of: old, probe), search.lines(of: new, probe))
    }
    return search.winner
  }

  private init(_ axis: Axis, _ pixels: PixelRect, in size: PixelSize) {
    self.axis = axis
    let (first, end, whole) =
      axis == .vertical ? (pixels.y, pixels.maxY, size.height) : (pixels.x, pixels.maxX, size.width)
    range = max(0, first - Self.margin)..<min(whole, end + Self.margin)
    votes = Array(repeating: 0, count: 2 * range.count + 1)
    var slots = 64
    while slots < 2 * range.count { slots *= 2 }
    table = Array(repeating: (0, -1), count: slots)
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
    return weights.prefix(Self.probes).filter { $0.count > 0 }.map { weight in
      let across = PixelRect(changed.size)
      let strip =
        axis == .vertical
        ? PixelRect(x: weight.place * side, y: range.lowerBound, width: step * side, height: range.count)
        : PixelRect(x: range.lowerBound, y: weight.place * side, width: range.count, height: step * side)
      return strip.intersection(across)
    }
  }

  // MARK: - Hashes

  /// The hash of each line of a probe.
  private func lines(of picture: borrowing PixelRows, _ probe: PixelRect) -> [UInt64] {
    switch axis {
    case .vertical:
      return (probe.y..<probe.maxY).map { Self.hash(picture.line($0, from: probe.x, count: probe.width)) }
    case .horizontal:
      var hashes = [UInt64](repeating: 1, count: probe.width)
      for y in probe.y..<probe.maxY {
        let line = picture.line(y, from: probe.x, count: probe.width)
        for x in 0..<probe.width {
          // Within the line.
          let pixel = unsafe line.unsafeLoadUnaligned(fromUncheckedByteOffset: x * 4, as: UInt32.self)
          hashes[x] = (hashes[x] ^ UInt64(pixel & PixelRows.mask)) &* Self.factor
        }
      }
      return hashes
    }
  }

  private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15

  private static func hash(_ line: borrowing RawSpan) -> UInt64 {
    // Four that are independent, so that several multiplications run at once.
    var (a, b, c, d): (UInt64, UInt64, UInt64, UInt64) = (1, 2, 3, 4)
    let mask = UInt64(PixelRows.mask) << 32 | UInt64(PixelRows.mask)
    var offset = 0
    while offset + 32 <= line.byteCount {
      // Within the line.
      let (first, second) = unsafe (
        line.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self),
        line.unsafeLoadUnaligned(fromUncheckedByteOffset: offset + 8, as: UInt64.self)
      )
      let (third, fourth) = unsafe (
        line.unsafeLoadUnaligned(fromUncheckedByteOffset: offset + 16, as: UInt64.self),
        line.unsafeLoadUnaligned(fromUncheckedByteOffset: offset + 24, as: UInt64.self)
      )
      a = (a ^ (first & mask)) &* factor
      b = (b ^ (second & mask)) &* factor
      c = (c ^ (third & mask)) &* factor
      d = (d ^ (fourth & mask)) &* factor
      offset += 32
    }
    while offset < line.byteCount {
      // A pixel of four bytes, as the line has whole pixels.
      let pixel = unsafe line.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self)
      a = (a ^ UInt64(pixel & PixelRows.mask)) &* factor
      offset += 4
    }
    return (((a ^ (a >> 29)) &* factor ^ b) &* factor ^ (c >> 7)) &* factor ^ d
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
  private var winner: Int? {
    guard let most = votes.max(), most >= Self.leastVotes else { return nil }
    return votes.indices.lazy.filter { votes[$0] == most }.map { $0 - range.count }.min { abs($0) < abs($1) }
  }
}
