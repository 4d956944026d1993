package import RTCPrimitives

/// Bytes over the last second, in tenths.
package struct RateMeter {
  private static let slots = 10
  private static let slotTime = TimeDelta.milliseconds(100)
  private var bytes = [Int](repeating: 0, count: Self.slots)
  /// The number of the newest slot, counted from time zero.
  private var newest: Int64 = 0

  package init() {}

  package mutating func add(_ count: Int, _ now: Timestamp) {
    advance(to: now)
    bytes[Int(newest % Int64(Self.slots))] += count
  }

  private mutating func advance(to now: Timestamp) {
    let slot = now.nanoseconds / Self.slotTime.nanoseconds
    guard slot > newest else { return }
    for number in max(newest + 1, slot - Int64(Self.slots) + 1)...slot { bytes[Int(number % Int64(Self.slots))] = 0 }
    newest = slot
  }

  package func rate(_ now: Timestamp) -> BitRate {
    let first = now.nanoseconds / Self.slotTime.nanoseconds - Int64(Self.slots) + 1
    var sum = 0
    for number in max(0, newest - Int64(Self.slots) + 1)...newest where number >= first {
      sum += bytes[Int(number % Int64(Self.slots))]
    }
    return BitRate(bitsPerSecond: Int64(sum) * 8)
  }
}
