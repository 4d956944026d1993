import RTCPrimitives
import Testing

/// The deadlines of many peers, against a plain walk over all of them.
@Suite struct DeadlineHeapTests {
  private final class Holder: DeadlineHolder {
    let name: Int
    var heapIndex: Int?
    init(_ name: Int) { self.name = name }
  }

  private func at(_ n: Int) -> Timestamp { .zero + .milliseconds(Int64(n)) }

  @Test func `the earliest is at hand, whatever is set, moved and taken out`() {
    var random = SeededGenerator(seed: 3)
    let holders = (0..<300).map { Holder($0) }
    var heap = DeadlineHeap<Holder>()
    var expected: [Int: Timestamp] = [:]
    for _ in 0..<20_000 {
      let holder = holders.randomElement(using: &random)!
      let deadline = Int.random(in: 0..<6, using: &random) == 0 ? nil : at(Int.random(in: 0..<500, using: &random))
      heap.set(deadline ?? .distantFuture, of: holder)
      expected[holder.name] = deadline
      #expect(heap.count == expected.count)
      #expect(heap.earliest == expected.values.min() ?? .distantFuture)
    }
    let due = expected.filter { $0.value <= at(250) }
    var taken: [Holder] = []
    heap.removeDue(at(250), into: &taken)
    #expect(Set(taken.map(\.name)) == Set(due.keys))
    #expect(taken.map { expected[$0.name]! } == due.values.sorted())
    #expect(taken.allSatisfy { $0.heapIndex == nil })
    #expect(heap.count == expected.count - due.count)
    #expect(heap.earliest == expected.values.filter { $0 > at(250) }.min() ?? .distantFuture)
  }

  private enum Wake: DeadlineKey, Equatable { case after(Int) }

  @Test func `a key that is no holder may have several deadlines`() {
    var heap = DeadlineHeap<Wake>()
    for n in [7, 3, 9, 3, 1] { heap.insert(.after(n), at: at(n)) }
    var taken: [Wake] = []
    while let key = heap.popDue(at(7)) { taken.append(key) }
    #expect(taken == [.after(1), .after(3), .after(3), .after(7)])
    #expect(heap.count == 1 && heap.earliest == at(9))
  }

  @Test func `what is taken out twice or was never in changes nothing`() {
    var heap = DeadlineHeap<Holder>()
    let (a, b) = (Holder(0), Holder(1))
    heap.set(.distantFuture, of: a)
    heap.set(at(5), of: b)
    heap.set(.distantFuture, of: b)
    heap.set(.distantFuture, of: b)
    #expect(heap.count == 0 && heap.earliest == .distantFuture)
  }
}
