/// Packs true and false, each with a probability, into bytes (RFC 6386, section 7).
struct BooleanEncoder {
  private var bytes: [UInt8] = []
  private var range: UInt32 = 255
  /// The low end of the interval; its highest bit is a carry into `bytes`.
  private var bottom: UInt32 = 0
  /// Shifts until the next byte is whole.
  private var shifts = 24

  /// - Parameter probability: of false, in 256ths; 1…255.
  mutating func write(_ value: Bool, _ probability: UInt8) {
    let split = 1 + ((range - 1) * UInt32(probability)) >> 8
    if value {
      bottom &+= split
      range -= split
    } else {
      range = split
    }
    guard range < 128 else { return }
    for _ in 0..<range.leadingZeroBitCount - 24 {
      range <<= 1
      shift()
    }
  }

  /// All bytes; nothing may be written after.
  mutating func finish() -> [UInt8] {
    for _ in 0..<32 { shift() }
    return bytes
  }

  private mutating func shift() {
    if bottom & 1 << 31 != 0 { carry() }
    bottom <<= 1
    shifts -= 1
    guard shifts == 0 else { return }
    bytes.append(UInt8(bottom >> 24))
    bottom &= 0xff_ffff
    shifts = 8
  }

  private mutating func carry() {
    var index = bytes.count - 1
    while index >= 0, bytes[index] == 255 {
      bytes[index] = 0
      index -= 1
    }
    if index >= 0 { bytes[index] += 1 }
  }
}
