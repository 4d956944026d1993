import RTCPrimitives

/// Deliveries in order of time, first in first out within one moment (a binary heap).
struct DeliveryQueue {
  private struct Entry {
    let serial: Int
    let delivery: NetworkEmulator.Delivery

    func isBefore(_ other: Entry) -> Bool {
      (delivery.time, serial) < (other.delivery.time, other.serial)
    }
  }

  private var heap: [Entry] = []
  private var nextSerial = 0

  var first: NetworkEmulator.Delivery? { heap.first?.delivery }

  mutating func insert(_ delivery: NetworkEmulator.Delivery) {
    heap.append(Entry(serial: nextSerial, delivery: delivery))
    nextSerial += 1
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].isBefore(heap[parent]) else { break }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  mutating func removeFirst() -> NetworkEmulator.Delivery {
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
