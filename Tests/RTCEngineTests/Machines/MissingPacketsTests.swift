import RTCEngine
import RTCPrimitives
import Testing

@Suite struct MissingPacketsTests {
  private let start = Timestamp.zero + .seconds(1)
  private let interval = TimeDelta.milliseconds(40)
  private let patience = TimeDelta.milliseconds(5)

  @Test func `requests wait for reordering and then come further apart`() {
    var missing = MissingPackets()
    missing.add(10..<13, now: start, patience: patience)
    #expect(missing.due(start, interval: interval) == [])
    #expect(missing.nextRequest == start + patience)
    var now = start + patience
    for step in 1...6 {
      #expect(missing.due(now, interval: interval) == [10, 11, 12].map { SequenceNumber($0) })
      #expect(missing.due(now, interval: interval) == [])
      #expect(missing.nextRequest == now + interval * Int64(min(step, 4)))
      now = missing.nextRequest!
    }
  }

  @Test func `what came is not asked for`() {
    var missing = MissingPackets()
    missing.add(65_534..<65_540, now: start, patience: .zero)
    missing.remove(Extended(65_536))
    missing.remove(Extended(1))
    #expect(missing.due(start, interval: interval)?.map(\.value) == [65_534, 65_535, 1, 2, 3])
    missing.removeAll(before: Extended(65_538))
    #expect(missing.count == 2)
  }

  @Test func `repair fails after a dozen requests`() {
    var missing = MissingPackets()
    missing.add(1..<2, now: start, patience: .zero)
    for _ in 0..<MissingPackets.maximumRequests {
      #expect(missing.due(missing.nextRequest!, interval: interval)?.count == 1)
    }
    #expect(missing.due(missing.nextRequest!, interval: interval) == nil)
  }

  @Test func `repair fails when too much is missing`() {
    var missing = MissingPackets()
    missing.add(0..<600, now: start, patience: .zero)
    #expect(missing.due(start, interval: interval)?.count == 600)
    missing.add(700..<100_000_000, now: start, patience: .zero)
    #expect(missing.due(start, interval: interval) == nil)
    #expect(missing.count < 1_300)
  }
}
