import RTCEngine
import RTCPrimitives
import RTCWire
import Testing

@Suite struct TransportHistoryTests {
  /// What `history` makes of a report on the arrival of `numbers`.
  private func report(
    _ numbers: [Int], count: UInt8, to history: inout TransportHistory
  ) -> (expected: Int, lost: Int) {
    let arrivals = numbers.map {
      TransportFeedback.Arrival(
        sequenceNumber: TransportSequenceNumber(UInt16(truncatingIfNeeded: $0)), time: .zero + .seconds(5))
    }
    var bytes = [UInt8](repeating: 0, count: 1_200)
    var length = 0
    do {
      var writer = ByteWriter(bytes.mutableSpan)
      TransportFeedback.write(
        sender: SSRC(1), media: SSRC(2), feedbackCount: count, arrivals: arrivals.span, into: &writer)
      length = writer.offset
    }
    guard var compound = RTCPCompound(parsing: bytes.span.extracting(0..<length)), let packet = compound.next(),
      let feedback = TransportFeedback(parsing: packet)
    else { return (-1, -1) }
    return history.receive(feedback)
  }

  private func history(sent: Int) -> TransportHistory {
    var history = TransportHistory()
    for _ in 0..<sent { history.sent() }
    return history
  }

  @Test func lossesWithinAReportCount() {
    var history = history(sent: 20)
    #expect(!history.hasFeedback)
    #expect(report([0, 1, 4, 5], count: 0, to: &history) == (6, 2))
    #expect(history.hasFeedback && history.firstUnreported.value == 6 && !history.isAllReported)
  }

  @Test func lossesBetweenTwoReportsInARowCount() {
    var history = history(sent: 20)
    _ = report([0, 1, 2], count: 255, to: &history)
    #expect(report([6, 7], count: 0, to: &history) == (5, 3))
    #expect(report([19], count: 1, to: &history) == (12, 11))
    #expect(history.isAllReported)
  }

  @Test func aLostReportIsNotTakenForLostPackets() {
    var history = history(sent: 20)
    _ = report([0, 1, 2], count: 0, to: &history)
    #expect(report([6, 7], count: 2, to: &history) == (2, 0))
  }

  @Test func oldNewsAndLiesDoNotCount() {
    var history = history(sent: 10)
    _ = report([0, 1, 2, 3], count: 0, to: &history)
    #expect(report([1, 2], count: 1, to: &history) == (0, 0))
    #expect(report([8, 9, 10, 11], count: 2, to: &history) == (6, 4))
    #expect(report([30, 31], count: 3, to: &history) == (0, 0))
  }

  @Test func numbersWrapAndLongSilenceHeals() {
    var history = history(sent: 65_530)
    _ = report([3], count: 0, to: &history)  // the only one to come through for 65,000 packets
    #expect(report([65_528, 65_529], count: 9, to: &history) == (2, 0))
    for _ in 0..<10 { history.sent() }
    #expect(report([65_530, 65_535, 65_536, 65_539], count: 10, to: &history) == (10, 6))
    #expect(history.isAllReported)
  }
}
