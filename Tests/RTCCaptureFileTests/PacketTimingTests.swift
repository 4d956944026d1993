import RTCCaptureFile
import RTCPrimitives
import Testing

/// The media timeline, whatever the times of a file are.
@Suite struct PacketTimingTests {
  private let later = PacketTiming.latestMediaTime

  @Test func `B2: packets that last an hour each do not overflow the timeline`() {
    var timing = PacketTiming(fileTime: 0, media: 0, fileEnd: nil, mayLeap: false)
    var last: Int64 = 0
    for _ in 0..<3_000_000 {
      let place = timing.place(stream: 0, pts: 0, dts: 0, duration: PacketTiming.longestDuration)
      guard place.time >= last else { return #expect(place.time >= last) }
      last = place.time
    }
    #expect(last == later && timing.end <= later)
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `B2: any times within their bounds give times within the timeline`(
    _ seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    let bound = PacketTiming.latestTime
    func time() -> Int64? {
      switch random.next() % 8 {
      case 0: return nil
      case 1: return bound
      case 2: return -bound
      case 3, 4: return Int64.random(in: -bound...bound, using: &random)
      default: return Int64.random(in: 0...40_000_000_000, using: &random)
      }
    }
    func duration() -> Int64 {
      random.next() % 3 == 0 ? PacketTiming.longestDuration : Int64.random(in: 0...40_000_000, using: &random)
    }
    for _ in 0..<100 {
      var timing = PacketTiming(
        fileTime: time() ?? 0, media: random.next() % 4 == 0 ? .max / 2 : 0, fileEnd: time(),
        mayLeap: random.next() % 2 == 0)
      for _ in 0..<10_000 {
        let place = timing.place(
          stream: Int32(random.next() % 2), pts: time(), dts: time(), duration: duration(), cut: duration())
        let isWithin = (-later...later).contains(place.time) && (-later...later).contains(place.decodeTime)
        guard isWithin, (-later...later).contains(place.offset), timing.end <= later else {
          Issue.record("\(place)")
          return
        }
      }
    }
  }
}
