package import RTCEngine
package import RTCPrimitives

/// The result of one flow, in slots of 100 ms.
package struct FlowMeter {
  /// One tenth of a second.
  package struct Slot {
    /// Bytes with headers.
    package var sent = 0
    package var delivered = 0
    package var packets = 0
    /// Packets that found the queue full.
    package var dropped = 0
    /// Packets that were lost by chance.
    package var lost = 0
    /// The longest wait in the bottleneck's queue.
    package var longestWait = TimeDelta.zero
    /// The last target.
    package var target = 0.0
    /// The last pacing rate.
    package var pacing = 0.0
    package var reason = NetworkEstimate.Reason.start
    package var queue: TimeDelta?
    package var acknowledged: BitRate?
  }

  package static let slotTime = TimeDelta.milliseconds(100)
  package private(set) var slots: [Slot] = []
  /// How long each packet waited in the bottleneck's queue, with when it left that.
  package private(set) var waits: [(time: TimeDelta, wait: TimeDelta)] = []

  /// How long each picture took from its making until all of it had arrived, without the path's delay, with when it arrived.
  private var pictures: [(time: TimeDelta, took: TimeDelta)] = []

  private mutating func slot(_ now: Timestamp) -> Int {
    let index = Int((now - Timestamp.zero).nanoseconds / Self.slotTime.nanoseconds)
    while slots.count <= index {
      var slot = Slot()
      if let last = slots.last {
        (slot.target, slot.pacing, slot.reason) = (last.target, last.pacing, last.reason)
        (slot.queue, slot.acknowledged) = (last.queue, last.acknowledged)
      }
      slots.append(slot)
    }
    return index
  }

  mutating func sent(_ bytes: Int, _ now: Timestamp) {
    let index = slot(now)
    slots[index].sent += bytes
    slots[index].packets += 1
  }
  mutating func delivered(_ bytes: Int, _ now: Timestamp) { slots[slot(now)].delivered += bytes }
  mutating func dropped(_ now: Timestamp) { slots[slot(now)].dropped += 1 }
  mutating func lost(_ now: Timestamp) { slots[slot(now)].lost += 1 }

  mutating func waited(_ wait: TimeDelta, _ now: Timestamp) {
    let index = slot(now)
    slots[index].longestWait = max(slots[index].longestWait, wait)
    waits.append((now - Timestamp.zero, wait))
  }

  mutating func pictureArrived(made: Timestamp, delay: TimeDelta, _ now: Timestamp) {
    pictures.append((now - Timestamp.zero, now - made - delay))
  }

  mutating func note(_ estimate: NetworkEstimate, _ now: Timestamp) {
    let index = slot(now)
    slots[index].target = Double(estimate.target.bitsPerSecond)
    slots[index].pacing = Double(estimate.pacingRate.bitsPerSecond)
    slots[index].reason = estimate.reason
    slots[index].queue = estimate.queueingDelay
    slots[index].acknowledged = estimate.acknowledged
  }

  // MARK: - Metrics (RFC 8868)

  private func slots(in range: Range<TimeDelta>) -> ArraySlice<Slot> {
    let first = Int(range.lowerBound.nanoseconds / Self.slotTime.nanoseconds)
    let last = Int(range.upperBound.nanoseconds / Self.slotTime.nanoseconds)
    return slots[min(first, slots.count)..<min(last, slots.count)]
  }

  /// Bits that arrived.
  package func deliveredBits(_ range: Range<TimeDelta>) -> Double {
    slots(in: range).reduce(0) { $0 + Double($1.delivered) * 8 }
  }

  /// The mean rate of what arrived, bits per second.
  package func throughput(_ range: Range<TimeDelta>) -> Double {
    deliveredBits(range) / max((range.upperBound - range.lowerBound).seconds, 1e-3)
  }

  /// Packets that the bottleneck dropped, of all.
  package func dropShare(_ range: Range<TimeDelta>) -> Double {
    let packets = slots(in: range).reduce(0) { $0 + $1.packets }
    return packets > 0 ? Double(slots(in: range).reduce(0) { $0 + $1.dropped }) / Double(packets) : 0
  }

  /// The wait that a share of the packets did not exceed.
  package func wait(quantile: Double, _ range: Range<TimeDelta>) -> TimeDelta {
    Self.quantile(quantile, waits.filter { range.contains($0.time) }.map(\.wait))
  }

  private static func quantile(_ quantile: Double, _ values: [TimeDelta]) -> TimeDelta {
    guard !values.isEmpty else { return .zero }
    return values.sorted()[min(values.count - 1, Int(Double(values.count) * quantile))]
  }

  /// The time that a share of the pictures did not exceed, from their making until they had arrived, without the path's
  /// delay.
  package func pictureTime(quantile: Double, _ range: Range<TimeDelta>) -> TimeDelta {
    Self.quantile(quantile, pictures.filter { range.contains($0.time) }.map(\.took))
  }

  /// How long after `time` the rate of arrival, over half a second, has reached `rate`; nil: never.
  package func reached(_ rate: Double, after time: TimeDelta) -> TimeDelta? {
    let first = Int(time.nanoseconds / Self.slotTime.nanoseconds)
    guard slots.count > first + 5 else { return nil }
    for index in first...(slots.count - 5) {
      let bits = slots[index..<index + 5].reduce(0) { $0 + $1.delivered } * 8
      if Double(bits) / 0.5 >= rate { return Self.slotTime * Int64(index + 5) - time }
    }
    return nil
  }

  /// The least mean of a second of the target, over the capacity, from five seconds after each change of that.
  package func lowestTarget(_ capacity: [CongestionBed.Step], _ range: Range<TimeDelta>) -> Double {
    var lowest = Double.infinity
    for (index, step) in capacity.enumerated() {
      let end = index + 1 < capacity.count ? capacity[index + 1].time : range.upperBound
      let begin = max(step.time + .seconds(5), range.lowerBound)
      guard begin < min(end, range.upperBound) else { continue }
      let targets = slots(in: begin..<min(end, range.upperBound)).map(\.target)
      guard targets.count >= 10 else { continue }
      for first in 0...(targets.count - 10) {
        let mean = targets[first..<first + 10].reduce(0, +) / 10
        lowest = min(lowest, mean / Double(step.rate.bitsPerSecond))
      }
    }
    return lowest == .infinity ? 0 : lowest
  }

  /// How long after `time` no packet waits longer than `wait` for a second; nil: never.
  package func drained(below wait: TimeDelta, after time: TimeDelta) -> TimeDelta? {
    let first = Int(time.nanoseconds / Self.slotTime.nanoseconds)
    guard slots.count > first + 10 else { return nil }
    var last = first
    for index in first..<slots.count {
      if slots[index].longestWait > wait { last = index + 1 }
      if index - last >= 10 { return Self.slotTime * Int64(last) - time }
    }
    return nil
  }
}

/// Jain's fairness index: 1 when all have the same.
package func jainFairness(_ rates: [Double]) -> Double {
  let squares = rates.reduce(0) { $0 + $1 * $1 }
  let sum = rates.reduce(0, +)
  return squares > 0 ? sum * sum / (Double(rates.count) * squares) : 1
}
