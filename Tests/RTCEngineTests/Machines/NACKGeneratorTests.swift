import RTCEngine
import RTCPrimitives
import Testing

@Suite struct NACKGeneratorTests {
  private let start = Timestamp.zero + .seconds(1)
  private let interval = TimeDelta.milliseconds(40)
  private let patience = TimeDelta.milliseconds(5)

  @Test func `requests wait for reordering and then come further apart`() {
    var nacks = NACKGenerator()
    nacks.add(10..<13, now: start, patience: patience)
    #expect(nacks.due(start, interval: interval) == [])
    #expect(nacks.nextRequest == start + patience)
    var now = start + patience
    for step in 1...6 {
      #expect(nacks.due(now, interval: interval) == [10, 11, 12].map { SequenceNumber($0) })
      #expect(nacks.due(now, interval: interval) == [])
      #expect(nacks.nextRequest == now + interval * Int64(min(step, 4)))
      now = nacks.nextRequest!
    }
  }

  @Test func `what came is not asked for`() {
    var nacks = NACKGenerator()
    nacks.add(65_534..<65_540, now: start, patience: .zero)
    nacks.remove(Extended(65_536))
    nacks.remove(Extended(1))
    #expect(nacks.due(start, interval: interval)?.map(\.value) == [65_534, 65_535, 1, 2, 3])
    nacks.removeAll(before: Extended(65_538))
    #expect(nacks.count == 2)
  }

  @Test func `repair fails after a dozen requests`() {
    var nacks = NACKGenerator()
    nacks.add(1..<2, now: start, patience: .zero)
    for _ in 0..<NACKGenerator.maximumRequests {
      #expect(nacks.due(nacks.nextRequest!, interval: interval)?.count == 1)
    }
    #expect(nacks.due(nacks.nextRequest!, interval: interval) == nil)
  }

  @Test func `repair fails when too much is missing`() {
    var nacks = NACKGenerator()
    nacks.add(0..<600, now: start, patience: .zero)
    #expect(nacks.due(start, interval: interval)?.count == 600)
    nacks.add(700..<100_000_000, now: start, patience: .zero)
    #expect(nacks.due(start, interval: interval) == nil)
    #expect(nacks.count < 1_300)
  }
}
