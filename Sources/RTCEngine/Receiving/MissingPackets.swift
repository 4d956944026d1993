import RTCPrimitives

/// The sequence numbers a receiver waits for, and when to ask for each again (RFC 4585 §6.2.1).
struct MissingPackets {
  private struct Entry {
    var number: Extended<SequenceNumber>
    var nextRequest: Timestamp
    var requests: Int
  }

  /// In order of sequence number.
  private var entries: [Entry] = []

  /// A packet asked for this often in vain is given up.
  static let maximumRequests = 12
  /// More holes than this mean an outage: a key frame is cheaper than the repair.
  static let maximumCount = 600

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }
  var oldest: Extended<SequenceNumber>? { entries.first?.number }
  var nextRequest: Timestamp? { entries.lazy.map(\.nextRequest).min() }

  /// Notes the hole `range`; the first request goes out at `now + patience`, which lets mere reordering heal itself.
  mutating func add(_ range: Range<Int64>, now: Timestamp, patience: TimeDelta) {
    for number in range.suffix(Self.maximumCount) {
      entries.append(Entry(number: Extended(number), nextRequest: now + patience, requests: 0))
    }
  }

  mutating func remove(_ number: Extended<SequenceNumber>) {
    if let index = entries.firstIndex(where: { $0.number == number }) { entries.remove(at: index) }
  }

  mutating func removeAll(before number: Extended<SequenceNumber>) {
    entries.removeAll { $0.number < number }
  }

  mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

  /// The numbers to ask for at `now`, each next due after `interval`.
  /// - Returns: the numbers, and whether any has been asked for too often, so that repair has failed.
  mutating func due(_ now: Timestamp, interval: TimeDelta) -> (numbers: [SequenceNumber], exhausted: Bool) {
    var numbers: [SequenceNumber] = []
    var exhausted = entries.count > Self.maximumCount
    for index in entries.indices where entries[index].nextRequest <= now {
      if entries[index].requests >= Self.maximumRequests { exhausted = true }
      entries[index].requests += 1
      // Later requests come further apart: the packet or the request may be stuck behind a queue.
      entries[index].nextRequest = now + interval * Int64(min(4, entries[index].requests))
      numbers.append(entries[index].number.low)
    }
    return (numbers, exhausted)
  }
}
