/// Packs true and false, each with a probability, into bytes (RFC 6386, section 7).
package struct BooleanEncoder {
  private var bytes: [UInt8] = []
  /// Between two answers at least 128.
  private var range: UInt32 = 255
  /// The low end of the interval: as many bits as `range` has, below `pending` more that a carry may still change. One more
  /// bit above them is that carry, into `bytes`.
  private var bottom: UInt64 = 0
  /// Bits of `bottom` above those of `range`, fewer than 48 + 8.
  private var pending = 0

  package init() {}

  /// - Parameter probability: of false, in 256ths; 1…255.
  @inline(__always)
  package mutating func write(_ value: Bool, _ probability: UInt8) {
    let split = 1 + ((range - 1) * UInt32(probability)) >> 8
    bottom &+= value ? UInt64(split) : 0
    range = value ? range &- split : split
    // At most 7.
    let shift = range.leadingZeroBitCount &- 24
    range = range &<< UInt32(truncatingIfNeeded: shift)
    self.shift(shift)
  }

  /// All bytes; nothing may be written after.
  package mutating func finish() -> [UInt8] {
    for _ in 0..<4 { shift(8) }
    carry()
    // Two more hold nothing.
    for byte in 0..<pending / 8 - 2 { append(bottom >> UInt64(pending - byte * 8)) }
    return bytes
  }

  @inline(__always)
  private mutating func shift(_ count: Int) {
    bottom = bottom &<< UInt64(truncatingIfNeeded: count)
    pending &+= count
    if pending >= 48 { flush() }
  }

  /// Moves the four highest bytes on.
  @inline(never)
  private mutating func flush() {
    carry()
    for byte in 0..<4 { append(bottom >> UInt64(pending - byte * 8)) }
    pending -= 32
    bottom &= 1 << UInt64(pending + 8) - 1
  }

  private mutating func append(_ byte: UInt64) { bytes.append(UInt8(truncatingIfNeeded: byte)) }

  private mutating func carry() {
    guard bottom >> UInt64(pending + 8) != 0 else { return }
    var index = bytes.count - 1
    while index >= 0, bytes[index] == 255 {
      bytes[index] = 0
      index -= 1
    }
    if index >= 0 { bytes[index] += 1 }
  }
}
