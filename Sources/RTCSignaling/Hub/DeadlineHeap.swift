import RTCPrimitives

/// Deadlines by key, earliest first. Entries are not removed: after a deadline, the owner checks whether there is
/// something to do.
struct DeadlineHeap<Key: Sendable>: Sendable {
  private var entries: [(time: Timestamp, key: Key)] = []

  var first: Timestamp? { entries.first?.time }
  var count: Int { entries.count }

  mutating func insert(_ key: Key, at time: Timestamp) {
    entries.append((time, key))
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].time < entries[parent].time else { break }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  /// The earliest entry if its time has come.
  mutating func popDue(_ now: Timestamp) -> Key? {
    guard let first = entries.first, first.time <= now else { return nil }
    entries.swapAt(0, entries.count - 1)
    entries.removeLast()
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < entries.count else { break }
      if child + 1 < entries.count, entries[child + 1].time < entries[child].time { child += 1 }
      guard entries[child].time < entries[parent].time else { break }
      entries.swapAt(child, parent)
      parent = child
    }
    return first.key
  }
}
