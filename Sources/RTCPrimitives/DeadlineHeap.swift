/// A key in a `DeadlineHeap`.
package protocol DeadlineKey {
  /// Called by the heap alone: the key's place in it has changed; nil: the key is outside.
  func moved(to index: Int?)
}

extension DeadlineKey {
  @inlinable package func moved(to _: Int?) {}
}

/// An owner of one deadline in a `DeadlineHeap`.
package protocol DeadlineHolder: AnyObject, DeadlineKey {
  /// Set by the heap alone: the place in it; nil outside.
  var heapIndex: Int? { get set }
}

extension DeadlineHolder {
  @inlinable package func moved(to index: Int?) { heapIndex = index }
}

/// Many deadlines, of which the earliest is always at hand: a binary heap. A key may be in it several times, unless it is
/// a `DeadlineHolder`: holders know their places, so that a change costs the logarithm of their number.
package struct DeadlineHeap<Key: DeadlineKey> {
  @usableFromInline var entries: [(deadline: Timestamp, key: Key)] = []

  @inlinable package init() {}

  @inlinable package var count: Int { entries.count }
  /// The earliest deadline; `.distantFuture` when there is none.
  @inlinable package var earliest: Timestamp { entries.first?.deadline ?? .distantFuture }

  /// Adds a deadline of `key`.
  @inlinable package mutating func insert(_ key: Key, at deadline: Timestamp) {
    entries.append((deadline, key))
    key.moved(to: entries.count - 1)
    siftUp(entries.count - 1)
  }

  /// Takes out the earliest key if its deadline has come.
  @inlinable package mutating func popDue(_ now: Timestamp) -> Key? {
    guard let first = entries.first, first.deadline <= now else { return nil }
    remove(at: 0)
    return first.key
  }

  /// Takes out all whose deadline has come, the earliest first, and appends them to `due`.
  @inlinable package mutating func removeDue(_ now: Timestamp, into due: inout [Key]) {
    while let key = popDue(now) { due.append(key) }
  }

  @inlinable package mutating func removeAll() {
    for entry in entries { entry.key.moved(to: nil) }
    entries.removeAll()
  }

  @inlinable mutating func remove(at index: Int) {
    let last = entries.count - 1
    swapEntries(index, last)
    entries.removeLast().key.moved(to: nil)
    guard index < last else { return }
    siftUp(index)
    siftDown(index)
  }

  @inlinable mutating func siftUp(_ start: Int) {
    var index = start
    while index > 0 {
      let parent = (index - 1) / 2
      guard entries[index].deadline < entries[parent].deadline else { return }
      swapEntries(index, parent)
      index = parent
    }
  }

  @inlinable mutating func siftDown(_ start: Int) {
    var index = start
    while true {
      var least = index
      for child in (2 * index + 1)...(2 * index + 2)
      where child < entries.count && entries[child].deadline < entries[least].deadline {
        least = child
      }
      guard least != index else { return }
      swapEntries(index, least)
      index = least
    }
  }

  @inlinable mutating func swapEntries(_ a: Int, _ b: Int) {
    guard a != b else { return }
    entries.swapAt(a, b)
    entries[a].key.moved(to: a)
    entries[b].key.moved(to: b)
  }
}

extension DeadlineHeap where Key: DeadlineHolder {
  /// Sets the deadline of `holder`; `.distantFuture` takes it out.
  @inlinable package mutating func set(_ deadline: Timestamp, of holder: Key) {
    guard let index = holder.heapIndex else {
      if deadline != .distantFuture { insert(holder, at: deadline) }
      return
    }
    guard deadline != .distantFuture else { return remove(at: index) }
    let before = entries[index].deadline
    entries[index].deadline = deadline
    if deadline < before { siftUp(index) } else { siftDown(index) }
  }
}

extension DeadlineHeap: Sendable where Key: Sendable {}
