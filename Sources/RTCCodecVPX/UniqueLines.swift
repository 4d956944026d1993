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
