package import RTCPrimitives

/// The sequence numbers a receiver waits for, and when to ask for each again (RFC 4585 §6.2.1).
package struct MissingPackets {
  private struct Entry {
    var number: Extended<SequenceNumber>
    var nextRequest: Timestamp
    var requests: Int
  }

  /// In order of sequence number.
  private var entries: [Entry] = []

  /// A packet asked for this often in vain is given up.
  package static let maximumRequests = 12
  /// More holes than this mean an outage: a key frame is cheaper than the repair.
  package static let maximumCount = 600

  package init() {}

  package var isEmpty: Bool { entries.isEmpty }
  package var count: Int { entries.count }
  package var nextRequest: Timestamp? { entries.lazy.map(\.nextRequest).min() }

  /// Notes the hole `range`, which must lie after all holes known; the first request goes out at `now + patience`, which
  /// lets mere reordering heal itself.
  package mutating func add(_ range: Range<Int64>, now: Timestamp, patience: TimeDelta) {
    for number in range.suffix(Self.maximumCount + 1) {
      entries.append(Entry(number: Extended(number), nextRequest: now + patience, requests: 0))
    }
  }

  package mutating func remove(_ number: Extended<SequenceNumber>) {
    if let index = entries.firstIndex(where: { $0.number == number }) { entries.remove(at: index) }
  }

  package mutating func removeAll(before number: Extended<SequenceNumber>) {
    entries.removeAll { $0.number < number }
  }

  package mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

  /// The numbers to ask for at `now`, each next due after `interval`, and later ones further apart: the packet or the
  /// request may be stuck behind a queue.
  /// - Returns: nil when any has been asked for too often, or there are too many: repair has failed.
  package mutating func due(_ now: Timestamp, interval: TimeDelta) -> [SequenceNumber]? {
    guard entries.count <= Self.maximumCount else { return nil }
    var numbers: [SequenceNumber] = []
    for index in entries.indices where entries[index].nextRequest <= now {
      guard entries[index].requests < Self.maximumRequests else { return nil }
      entries[index].requests += 1
      entries[index].nextRequest = now + interval * Int64(min(4, entries[index].requests))
      numbers.append(entries[index].number.low)
    }
    return numbers
  }
}
