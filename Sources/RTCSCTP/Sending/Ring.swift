/// A queue in an array: elements leave at the front and come in at the back, without allocation once it has grown.
struct Ring<Element> {
  private var storage: [Element?] = []
  private var head = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  var first: Element? { count == 0 ? nil : storage[head] }

  /// Element `index` from the front; must be less than `count`.
  subscript(index: Int) -> Element {
    get {
      precondition(index >= 0 && index < count, "Ring: no such element")
      return storage[(head + index) & (storage.count - 1)]!
    }
    _modify {
      precondition(index >= 0 && index < count, "Ring: no such element")
      yield &storage[(head + index) & (storage.count - 1)]!
    }
  }

  mutating func append(_ element: Element) {
    if count == storage.count { grow() }
    storage[(head + count) & (storage.count - 1)] = element
    count += 1
  }

  /// Takes the first element out; there must be one.
  @discardableResult
  mutating func removeFirst() -> Element {
    precondition(count > 0, "Ring: nothing to take")
    let element = storage[head]!
    storage[head] = nil
    head = (head + 1) & (storage.count - 1)
    count -= 1
    return element
  }

  mutating func removeAll() { self = Ring() }

  /// Doubles the size, a power of two, so that wrapping is a mask.
  private mutating func grow() {
    var larger: [Element?] = []
    larger.reserveCapacity(max(8, 2 * count))
    for i in 0..<count { larger.append(storage[(head + i) & (storage.count - 1)]) }
    while larger.count < max(8, 2 * count) { larger.append(nil) }
    storage = larger
    head = 0
  }
}
