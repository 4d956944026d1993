import RTCPrimitives
import RTCWire
import Testing

@Suite struct TransportFeedbackTests {
  private typealias Status = TransportFeedback.Status

  private func statuses(_ bytes: [UInt8]) -> [Status]? {
    withFirstPacket(bytes) { packet in
      guard var feedback = TransportFeedback(parsing: packet) else { return nil }
      var result: [Status] = []
      while let status = feedback.next() { result.append(status) }
      return result.count == feedback.statusCount ? result : nil
    }
  }

  private func status(_ number: UInt16, _ microseconds: Int64?) -> Status {
    Status(sequenceNumber: TransportSequenceNumber(number), arrival: microseconds.map { .microseconds($0) })
  }

  private func arrival(_ number: UInt16, _ microseconds: Int64) -> TransportFeedback.Arrival {
    .init(sequenceNumber: TransportSequenceNumber(number), time: Timestamp(nanoseconds: microseconds * 1000))
  }

  private func written(
    _ arrivals: [TransportFeedback.Arrival], capacity: Int = 1200
  ) -> (bytes: [UInt8], taken: Int) {
    var taken = 0
    let bytes = writtenBytes(capacity: capacity) {
      taken = TransportFeedback.write(
        sender: SSRC(1), media: SSRC(2), feedbackCount: 3, arrivals: arrivals.span, into: &$0)
    }
    return (bytes, taken)
  }

  @Test func `Chromium's feedback parses, padded as it is by two bytes`() {
    let bytes = wireBytes(
      "afcd0008 00000001 efa2b69b 00c2000c 019cc7 04 200c 88 0000000000000000000000 0002")
    let parsed = statuses(bytes)
    #expect(parsed?.count == 12)
    #expect(parsed?.first?.sequenceNumber == TransportSequenceNumber(0xC2))
    #expect(parsed?.allSatisfy { $0.arrival != nil } == true)
  }

  @Test func `the three kinds of chunk parse`() {
    // A run of two small deltas; one-bit symbols lost, small, twelve lost; two-bit symbols large, lost.
    let bytes = wireBytes("8fcd0007 00000001 00000002 fffe0012 000002 09 2002 9000 e000 04 08 01 fffc 00")
    let parsed = statuses(bytes)
    #expect(parsed?.count == 18)
    #expect(parsed?[0] == status(65_534, 129_000))
    #expect(parsed?[1] == status(65_535, 131_000))
    #expect(parsed?[2] == status(0, nil))
    #expect(parsed?[3] == status(1, 131_250))
    #expect(parsed?[16] == status(14, 130_250))
    #expect(parsed?[17] == status(15, nil))
  }

  @Test func `a zero-length run is passed over`() {
    let bytes = wireBytes("8fcd0006 00000001 00000002 00010001 00000000 0000 2001 04 000000")
    #expect(statuses(bytes) == [status(1, 1000)])
  }

  @Test func `a negative reference time parses`() {
    let bytes = wireBytes("8fcd0005 00000001 00000002 00010001 ffffff00 2001 0400")
    #expect(statuses(bytes) == [status(1, -63_000)])
  }

  @Test(arguments: [
    "8fcd0004 00000001 00000002 00010000 00000000",  // reports on nothing
    "8fcd0004 00000001 00000002 00010001 00000000",  // no chunk
    "8fcd0005 00000001 00000002 00010003 00000000 2003 0400",  // two deltas for three packets
    "8fcd0005 00000001 00000002 0001ffff 00000000 1fff 1fff",  // chunks for 16,382 of 65,535
    "8fcd0005 00000001 00000002 00010001 00000000 6001 0400",  // reserved symbol in a run
    "8fcd0005 00000001 00000002 00010007 00000000 c003 0400",  // reserved symbol in a vector
    "8fcd0003 00000001 00000002 00010001",
  ]) func `what does not fit is refused`(dump: String) {
    #expect(statuses(wireBytes(dump)) == nil)
  }

  @Test func `the largest report is bounded`() {
    let run = String(repeating: "1fff", count: 9)
    let bytes = wireBytes("8fcd0009 00000001 00000002 0001ffff 00000000" + run + "0000")
    #expect(statuses(bytes)?.count == 65_535)
  }

  @Test func `one arrival is the smallest packet`() {
    let (bytes, taken) = written([arrival(7, 129_999)], capacity: 24)
    #expect(taken == 1)
    #expect(bytes == wireBytes("8fcd0005 00000001 00000002 00070001 000002 03 2001 07 00"))
    #expect(written([arrival(7, 0)], capacity: 23).taken == 0)
    #expect(written([]).taken == 0)
  }

  @Test func `losses, large gaps and going back in time make the round trip`() {
    let arrivals = [
      arrival(65_530, 1_000_000), arrival(65_531, 1_000_250), arrival(65_534, 1_200_000), arrival(2, 1_100_000),
      arrival(60, 1_100_250), arrival(61, 1_100_250),
    ]
    let (bytes, taken) = written(arrivals)
    #expect(taken == 6)
    #expect(statuses(bytes)?.filter { $0.arrival != nil } == arrivals.map(received))
    #expect(statuses(bytes)?.count == 68)
  }

  @Test func `a packet ends before what it cannot say`() {
    #expect(written([arrival(1, 0), arrival(2, 8_200_000)]).taken == 1)
    #expect(written([arrival(1, 0), arrival(1, 250)]).taken == 1)
    #expect(written([arrival(5, 0), arrival(4, 250)]).taken == 1)
  }

  @Test func `random arrivals make the round trip in whatever room there is`() {
    var random = SeededGenerator(seed: 2)
    for round in 0..<400 {
      var number = UInt16.random(in: 0...UInt16.max, using: &random)
      var time = Int64.random(in: 100_000_000...10_000_000_000, using: &random)
      let longestGap: UInt16 = [1, 3, 20, 40, 9000][round % 5]
      let spread: Int64 = [200, 60_000, 200_000][round % 3]
      var arrivals: [TransportFeedback.Arrival] = []
      for _ in 0..<Int.random(in: 1...300, using: &random) {
        arrivals.append(arrival(number, time))
        number &+= UInt16.random(in: 1...longestGap, using: &random)
        time += Int64.random(in: (round % 2 == 0 ? 0 : -spread)...spread, using: &random)
      }
      let (bytes, taken) = written(arrivals, capacity: Int.random(in: 24...1200, using: &random))
      #expect(taken > 0)
      #expect(statuses(bytes)?.filter { $0.arrival != nil } == arrivals[..<taken].map(received), "round \(round)")
    }
  }

  @Test func `B1: skipping leads to the same statuses as reading`() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<400 {
      var number = UInt16.random(in: 0...UInt16.max, using: &random)
      var time: Int64 = 100_000_000
      let longestGap: UInt16 = [1, 3, 20, 9_000].randomElement(using: &random)!
      let arrivals = (0..<Int.random(in: 1...60, using: &random)).map { _ in
        number &+= UInt16.random(in: 1...longestGap, using: &random)
        time += Int64.random(in: -20_000...90_000, using: &random)
        return arrival(number, time)
      }
      let bytes = written(arrivals).bytes
      guard let all = statuses(bytes) else {
        Issue.record("unreadable")
        return
      }
      let target = Int.random(in: 0...all.count + 9, using: &random)
      var compound = RTCPCompound(parsing: bytes.span)!
      let packet = compound.next()!
      var feedback = TransportFeedback(parsing: packet)!
      let steps = feedback.skip(to: target)
      #expect(steps <= 8 * bytes.count && feedback.index == min(target, all.count))
      var rest: [Status] = []
      while let status = feedback.next() { rest.append(status) }
      #expect(rest == Array(all.dropFirst(target)))
    }
  }

  @Test func `a steady stream costs little more than a byte a packet`() {
    let arrivals = (0..<100).map { arrival(UInt16($0), Int64($0) * 1000) }
    let (bytes, taken) = written(arrivals)
    #expect(taken == 100 && bytes.count == 20 + 2 + 100 + 2)
  }

  private func received(_ arrival: TransportFeedback.Arrival) -> Status {
    let ticks = arrival.time.nanoseconds / 250_000
    return Status(sequenceNumber: arrival.sequenceNumber, arrival: .microseconds(ticks * 250))
  }
}
