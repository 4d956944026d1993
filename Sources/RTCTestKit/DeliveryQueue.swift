import RTCPrimitives

/// Deliveries in order of time, first in first out within one moment (a binary heap).
struct DeliveryQueue<Delivery> {
  private struct Entry {
    let time: Timestamp
    let serial: Int
    let delivery: Delivery

    func isBefore(_ other: Entry) -> Bool { (time, serial) < (other.time, other.serial) }
  }

  private var heap: [Entry] = []
  private var nextSerial = 0

  var first: Delivery? { heap.first?.delivery }
  /// When `first` is due.
  var firstTime: Timestamp? { heap.first?.time }

  mutating func insert(_ delivery: Delivery, at time: Timestamp) {
    heap.append(Entry(time: time, serial: nextSerial, delivery: delivery))
    nextSerial += 1
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].isBefore(heap[parent]) else { break }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  mutating func removeFirst() -> Delivery {
    heap.swapAt(0, heap.count - 1)
    let removed = heap.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].isBefore(heap[least]) {
        least = child
      }
      guard least != parent else { break }
      heap.swapAt(parent, least)
      parent = least
    }
    return removed.delivery
  }
}
