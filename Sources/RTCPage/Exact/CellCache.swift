/// The pixels that one page keeps, by hash: which are in which slot, and the order in which slots are used again.
///
/// The page only does what it is told: it copies a drawn cell into a slot, and a slot into the picture. So both sides
/// agree on what is kept, and the caster names no slot that the page could have emptied.
package struct CellCache: Sendable {
  private struct Slot: Sendable {
    /// Nil: the slot has no content that can be named.
    var hash: UInt64?
    /// The cell in which the pixels were when they were kept.
    var cell: UInt16
    /// The number of the next rectangle when they were kept.
    var number: UInt32
    /// The slots used before and after it.
    var older: UInt16
    var newer: UInt16
  }

  /// The maximum number of slots of a page, whatever it offers: 128 MiB of pixels there, 200 kB here.
  package static let maximumSlots = 4_096
  private static let none = UInt16.max

  /// The number of slots that the page offers; 0: it keeps nothing.
  package let capacity: Int
  private var slots: [Slot] = []
  private var places: [UInt64: UInt16] = [:]
  private var oldest = none
  private var newest = none

  package init(capacity: Int = 0) { self.capacity = min(max(0, capacity), Self.maximumSlots) }

  /// The slot with these pixels.
  package func slot(of hash: UInt64) -> Int? { places[hash].map(Int.init) }

  /// The pixels of the slot are wanted: it is used again last.
  package mutating func touch(_ slot: Int) {
    unlink(slot)
    append(slot)
  }

  /// A slot for pixels that are not kept yet: a new one, or the one that was not wanted for the longest time.
  /// - Parameters:
  ///   - cell: where they are drawn.
  ///   - number: the number of the next rectangle.
  ///   - isShown: whether pixels with this hash are still drawn in this cell; they are not discarded.
  /// - Returns: nil if everything that is kept is shown.
  package mutating func keep(
    _ hash: UInt64, of cell: Int, before number: UInt32, isShown: (_ hash: UInt64, _ cell: Int) -> Bool
  ) -> Int? {
    guard let slot = free(isShown) else { return nil }
    slots[slot].hash = hash
    slots[slot].cell = UInt16(cell)
    slots[slot].number = number
    places[hash] = UInt16(slot)
    touch(slot)
    return slot
  }

  private mutating func free(_ isShown: (_ hash: UInt64, _ cell: Int) -> Bool) -> Int? {
    if slots.count < capacity {
      slots.append(Slot(hash: nil, cell: 0, number: 0, older: Self.none, newer: Self.none))
      append(slots.count - 1)
      return slots.count - 1
    }
    for _ in slots.indices {
      let slot = Int(oldest)
      guard let hash = slots[slot].hash else { return slot }
      if isShown(hash, Int(slots[slot].cell)) {
        touch(slot)
      } else {
        places[hash] = nil
        slots[slot].hash = nil
        return slot
      }
    }
    return nil
  }

  /// The page did not have the content of this slot when rectangle `number` came.
  package mutating func forget(_ slot: Int, at number: UInt32) {
    guard slots.indices.contains(slot), let hash = slots[slot].hash, slots[slot].number <= number else { return }
    places[hash] = nil
    slots[slot].hash = nil
  }

  private mutating func unlink(_ slot: Int) {
    let (older, newer) = (slots[slot].older, slots[slot].newer)
    if older == Self.none { oldest = newer } else { slots[Int(older)].newer = newer }
    if newer == Self.none { newest = older } else { slots[Int(newer)].older = older }
  }

  private mutating func append(_ slot: Int) {
    (slots[slot].older, slots[slot].newer) = (newest, Self.none)
    if newest == Self.none { oldest = UInt16(slot) } else { slots[Int(newest)].newer = UInt16(slot) }
    newest = UInt16(slot)
  }
}
