package import RTCPrimitives

/// An owner of one deadline in a `DeadlineHeap`.
package protocol DeadlineHolder: AnyObject {
  /// Kept by the heap alone: the place in it; nil outside.
  var heapIndex: Int? { get set }
}

/// Many deadlines, of which the earliest is always at hand: a binary heap whose holders know their places, so that a
/// change costs the logarithm of their number.
package struct DeadlineHeap<Holder: DeadlineHolder> {
  private var entries: [(deadline: Timestamp, holder: Holder)] = []

  package init() {}

  package var count: Int { entries.count }
  /// The earliest deadline; `.distantFuture` when there is none.
  package var earliest: Timestamp { entries.first?.deadline ?? .distantFuture }

  /// Sets the deadline of `holder`; `.distantFuture` takes it out.
  package mutating func set(_ deadline: Timestamp, of holder: Holder) {
    guard let index = holder.heapIndex else {
      guard deadline != .distantFuture else { return }
      entries.append((deadline, holder))
      holder.heapIndex = entries.count - 1
      siftUp(entries.count - 1)
      return
    }
    guard deadline != .distantFuture else { return remove(at: index) }
    let before = entries[index].deadline
    entries[index].deadline = deadline
    if deadline < before { siftUp(index) } else { siftDown(index) }
  }

  /// Takes out all whose deadline has come, the earliest first, and appends them to `due`.
  package mutating func removeDue(_ now: Timestamp, into due: inout [Holder]) {
    while let first = entries.first, first.deadline <= now {
      due.append(first.holder)
      remove(at: 0)
    }
  }

  package mutating func removeAll() {
    for entry in entries { entry.holder.heapIndex = nil }
    entries.removeAll()
  }

  private mutating func remove(at index: Int) {
    let last = entries.count - 1
    swapEntries(index, last)
    entries.removeLast().holder.heapIndex = nil
    guard index < last else { return }
    siftUp(index)
    siftDown(index)
  }

  private mutating func siftUp(_ start: Int) {
    var index = start
    while index > 0 {
      let parent = (index - 1) / 2
      guard entries[index].deadline < entries[parent].deadline else { return }
      swapEntries(index, parent)
      index = parent
    }
  }

  private mutating func siftDown(_ start: Int) {
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

  private mutating func swapEntries(_ a: Int, _ b: Int) {
    guard a != b else { return }
    entries.swapAt(a, b)
    entries[a].holder.heapIndex = a
    entries[b].holder.heapIndex = b
  }
}
