package import RTCPrimitives

/// The NACK generator: the sequence numbers a receiver waits for, and when to ask for each again (RFC 4585 §6.2.1).
package struct NACKGenerator {
  private struct Entry {
    var number: Extended<SequenceNumber>
    /// When it was first missed.
    var missed: Timestamp
    var nextRequest: Timestamp
    var lastRequest: Timestamp?
    var requests: Int
  }

  /// A missing packet that arrived after all.
  package struct Found: Hashable {
    package var missed: Timestamp
    /// Nil when it was never asked for.
    package var lastRequest: Timestamp?
  }

  /// In order of sequence number.
  private var entries: [Entry] = []

  /// A packet is given up after this number of requests.
  package static let maximumRequests = 12
  /// More holes than this mean an outage: a key frame is cheaper than the repair.
  package static let maximumCount = 600

  package init() {}

  package var isEmpty: Bool { entries.isEmpty }
  package var count: Int { entries.count }
  package var nextRequest: Timestamp? { entries.lazy.map(\.nextRequest).min() }

  /// Notes the hole `range`, which must lie after or before all holes known; the first request goes out at
  /// `now + patience`, which lets mere reordering heal itself.
  package mutating func add(_ range: Range<Int64>, now: Timestamp, patience: TimeDelta) {
    let place = firstIndex(notBefore: Extended(range.lowerBound))
    for (index, value) in range.suffix(Self.maximumCount + 1).enumerated() {
      entries.insert(
        Entry(number: Extended(value), missed: now, nextRequest: now + patience, lastRequest: nil, requests: 0),
        at: place + index)
    }
  }

  /// Forgets a packet that came; nil when it was not missed.
  @discardableResult
  package mutating func remove(_ number: Extended<SequenceNumber>) -> Found? {
    let index = firstIndex(notBefore: number)
    guard index < entries.count, entries[index].number == number else { return nil }
    let entry = entries.remove(at: index)
    return Found(missed: entry.missed, lastRequest: entry.lastRequest)
  }

  package mutating func removeAll(before number: Extended<SequenceNumber>) {
    entries.removeFirst(firstIndex(notBefore: number))
  }

  package func hasAny(before number: Extended<SequenceNumber>) -> Bool {
    entries.first.map { $0.number < number } ?? false
  }

  package mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

  /// The numbers to ask for at `now`, each next due after `interval`, and later ones further apart: the packet or the
  /// request may be stuck behind a queue.
  /// - Parameter lifetime: a packet missed for longer is given up, however often it was asked for.
  /// - Returns: nil when any has been asked for too often, or there are too many: repair has failed.
  package mutating func due(
    _ now: Timestamp, interval: TimeDelta, lifetime: TimeDelta = .seconds(2)
  ) -> [SequenceNumber]? {
    guard entries.count <= Self.maximumCount else { return nil }
    var numbers: [SequenceNumber] = []
    for index in entries.indices where entries[index].nextRequest <= now {
      guard entries[index].requests < Self.maximumRequests, now - entries[index].missed <= lifetime else { return nil }
      entries[index].requests += 1
      entries[index].lastRequest = now
      entries[index].nextRequest = now + interval * Int64(min(4, entries[index].requests))
      numbers.append(entries[index].number.low)
    }
    return numbers
  }

  private func firstIndex(notBefore number: Extended<SequenceNumber>) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
