import RTCEngine
import RTCPrimitives
import RTCWire
import Testing

@Suite struct TWCCRecorders {
  /// The contents of the next feedback packet: arrived and lost numbers.
  private func report(_ log: inout TWCCRecorder) -> (arrived: [UInt16], lost: [UInt16])? {
    var bytes = [UInt8](repeating: 0, count: 1_200)
    var length = 0
    do {
      var writer = ByteWriter(bytes.mutableSpan)
      guard log.writeFeedback(sender: SSRC(1), media: SSRC(2), into: &writer) else { return nil }
      length = writer.offset
    }
    guard var compound = RTCPCompound(parsing: bytes.span.extracting(0..<length)), let packet = compound.next(),
      var feedback = TransportFeedback(parsing: packet)
    else { return nil }
    var (arrived, lost): ([UInt16], [UInt16]) = ([], [])
    while let status = feedback.next() {
      if status.arrival == nil {
        lost.append(status.sequenceNumber.value)
      } else {
        arrived.append(status.sequenceNumber.value)
      }
    }
    return (arrived, lost)
  }

  private func add(_ numbers: [Int], to log: inout TWCCRecorder, at milliseconds: Int64) {
    for number in numbers {
      log.add(
        TransportSequenceNumber(UInt16(truncatingIfNeeded: number)), at: .zero + .milliseconds(10_000 + milliseconds))
    }
  }

  @Test func `what was lost between two feedbacks is said in the second`() {
    var log = TWCCRecorder()
    add([65_530, 65_531, 65_533], to: &log, at: 0)
    let first = report(&log)
    #expect(first?.arrived == [65_530, 65_531, 65_533] && first?.lost == [65_532])
    add([65_537, 65_538], to: &log, at: 50)
    let second = report(&log)
    #expect(second?.lost == [65_534, 65_535, 0] && second?.arrived == [1, 2])
    let third = report(&log)
    #expect(third == nil)
  }

  @Test func `what came late is reported, and nothing twice as lost`() {
    var log = TWCCRecorder()
    add([10, 12, 13], to: &log, at: 0)
    _ = report(&log)
    add([11, 14], to: &log, at: 50)
    let second = report(&log)
    #expect(second?.arrived == [11] && second?.lost == [])
    let third = report(&log)
    #expect(third?.arrived == [14] && third?.lost == [])
    add([15], to: &log, at: 100)
    let fourth = report(&log)
    #expect(fourth?.arrived == [15] && fourth?.lost == [])
  }

  @Test func `a leap in the numbering is no loss of thousands`() {
    var log = TWCCRecorder()
    add([10], to: &log, at: 0)
    _ = report(&log)
    add([20_000, 20_001], to: &log, at: 50)
    let second = report(&log)
    #expect(second?.arrived == [20_000, 20_001] && second?.lost == [])
  }

  @Test func `more than one packet can hold is reported in several, completely`() {
    var log = TWCCRecorder()
    var random = SeededGenerator(seed: 3)
    let numbers = (0..<3_000).filter { _ in random.next() % 10 > 2 }.prefix(TWCCRecorder.maximumCount)
    add(Array(numbers), to: &log, at: 0)
    var (arrived, lost): ([UInt16], [UInt16]) = ([], [])
    while let said = report(&log) {
      arrived += said.arrived
      lost += said.lost
    }
    #expect(arrived == numbers.map { UInt16($0) })
    #expect(Set(lost) == Set((numbers.first!...numbers.last!).map { UInt16($0) }).subtracting(arrived))
  }
}
