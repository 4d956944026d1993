import RTCEngine
import RTCPrimitives
import RTCWire
import Testing

@Suite struct SentPacketHistoryTests {
  private func history(sent: Int) -> SentPacketHistory {
    var history = SentPacketHistory()
    history.send(sent)
    return history
  }

  private func arrived(_ history: SentPacketHistory, _ numbers: Range<Int>) -> [Int] {
    numbers.filter { history.hasArrived(TransportSequenceNumber(UInt16(truncatingIfNeeded: $0))) }
  }

  @Test func `a packet that came late after all has arrived`() {
    var history = history(sent: 20)
    #expect(history.report([0, 5], count: 0) == (6, 4))
    #expect(history.report([2, 6], count: 1) == (1, 0))
    #expect(arrived(history, 0..<20) == [0, 2, 5, 6])
  }

  @Test func `losses within a report count`() {
    var history = history(sent: 20)
    #expect(!history.hasFeedback)
    #expect(history.report([0, 1, 4, 5], count: 0) == (6, 2))
    #expect(history.hasFeedback)
    #expect(arrived(history, 0..<8) == [0, 1, 4, 5])
  }

  @Test func `losses between two reports in a row count`() {
    var history = history(sent: 20)
    _ = history.report([0, 1, 2], count: 255)
    #expect(history.report([6, 7], count: 0) == (5, 3))
    #expect(history.report([19], count: 1) == (12, 11))
    #expect(arrived(history, 0..<20) == [0, 1, 2, 6, 7, 19])
  }

  @Test func `a lost report is not taken for lost packets`() {
    var history = history(sent: 20)
    _ = history.report([0, 1, 2], count: 0)
    #expect(history.report([6, 7], count: 2) == (2, 0))
  }

  @Test func `results say what was sent and what became of it`() {
    var history = SentPacketHistory()
    let kinds: [SentPacket.Kind] = [.video, .audio, .repair, .padding]
    for number in 0..<8 {
      history.add(
        kinds[number % 4], size: 100 + number, now: .zero + .milliseconds(Int64(number)),
        probe: number % 4 == 3 ? 7 : nil)
    }
    let results = history.results([0, 1, 3], count: 0)
    #expect(results.map(\.packet.number) == [0, 1, 2, 3])
    #expect(results.map(\.packet.kind) == kinds)
    #expect(results.map(\.packet.size) == [100, 101, 102, 103])
    #expect(results.map(\.packet.probe) == [nil, nil, nil, 7])
    #expect(results.map(\.packet.sendTime) == (0..<4).map { .zero + .milliseconds($0) })
    #expect(results.map { $0.arrival != nil } == [true, true, false, true])
    // One that was late is told of once more, and once only.
    #expect(history.results([2], count: 1).map(\.wasReportedLost) == [true])
    #expect(history.results([2], count: 2).isEmpty)
  }

  @Test func `the ring grows with what is young and forgets the rest`() {
    var history = SentPacketHistory()
    // 100 a second: ten seconds of them are kept.
    for number in 0..<10_000 { history.add(.video, size: 1, now: .zero + .milliseconds(Int64(number) * 10)) }
    #expect(history.report(Array(9_000..<9_010), count: 0) == (10, 0))
    #expect(history.results([500], count: 1).isEmpty)
    #expect(arrived(history, 0..<9_000) == [])
    #expect(arrived(history, 9_000..<10_000) == Array(9_000..<9_010))
  }

  @Test func `old news and lies do not count`() {
    var history = history(sent: 10)
    _ = history.report([0, 1, 2, 3], count: 0)
    #expect(history.report([1, 2], count: 1) == (0, 0))
    #expect(history.report([8, 9, 10, 11], count: 2) == (6, 4))
    #expect(history.report([30, 31], count: 3) == (0, 0))
    #expect(arrived(history, 0..<40) == [0, 1, 2, 3, 8, 9])
  }

  @Test func `numbers wrap and long silence heals`() {
    var history = history(sent: 65_530)
    _ = history.report([3], count: 0)  // the only one to come through for 65,000 packets
    #expect(history.report([65_528, 65_529], count: 9) == (2, 0))
    history.send(10)
    #expect(history.report([65_530, 65_535, 65_536, 65_539], count: 10) == (10, 6))
    #expect(arrived(history, 65_520..<65_540) == [65_528, 65_529, 65_530, 65_535, 65_536, 65_539])
  }

  // MARK: - B1: feedback whose statuses are more than its bytes

  /// A feedback packet with run-length chunks of lost packets and, if told, one arrival at the end.
  private func lostRuns(base: Int, count: UInt8, statuses: Int, endsWithArrival: Bool = false) -> [UInt8] {
    var chunks: [UInt16] = []
    var left = statuses - (endsWithArrival ? 1 : 0)
    while left > 0 {
      chunks.append(UInt16(min(left, 0x1FFF)))
      left -= Int(chunks.last!)
    }
    if endsWithArrival { chunks.append(0x2001) }
    var body = [UInt8](repeating: 0, count: 8)
    for word in [UInt16(truncatingIfNeeded: base), UInt16(statuses), 0, UInt16(count)] + chunks {
      body += [UInt8(word >> 8), UInt8(truncatingIfNeeded: word)]
    }
    if endsWithArrival { body.append(0) }
    while body.count % 4 != 0 { body.append(0) }
    return [0x8F, 205, 0, UInt8(body.count / 4)] + body
  }

  /// The steps that reading `bytes` takes, and the results.
  private func read(_ bytes: [UInt8], into history: inout SentPacketHistory) -> (Int, [PacketResult]) {
    var results: [PacketResult] = []
    guard var compound = RTCPCompound(parsing: bytes.span), let packet = compound.next(),
      let feedback = TransportFeedback(parsing: packet)
    else { return (-1, []) }
    let steps = history.receive(feedback, into: &results)
    return (steps, results)
  }

  @Test(arguments: [0, 60, 3_000, 4_090, 4_096, 4_200, 30_000, 60_000])
  func `B1: a feedback of 65,535 lost packets costs its few bytes`(base: Int) {
    var history = history(sent: 4_096)
    _ = history.report([4_095], count: 0)
    for count in 1...28 {
      let (steps, results) = read(lostRuns(base: base, count: UInt8(2 * count), statuses: 65_535), into: &history)
      #expect((0...18).contains(steps) && results.isEmpty)
    }
  }

  @Test func `B1: a packet is reported lost once, however often feedback claims it`() {
    var history = history(sent: 1_000)
    var (steps, results) = (0, 0)
    for count in 0..<28 {
      let read = read(lostRuns(base: 0, count: UInt8(2 * count), statuses: 65_535), into: &history)
      (steps, results) = (steps + read.0, results + read.1.count)
    }
    #expect(results == 1_000 && steps <= 1_000 + 28 * 18)
  }

  @Test func `B1: an arrival behind a long run of losses is still found`() {
    var history = history(sent: 9_000)
    let (steps, results) = read(
      lostRuns(base: 0, count: 0, statuses: 9_000, endsWithArrival: true), into: &history)
    #expect(results.last?.packet.number == 8_999 && results.last?.arrival != nil)
    #expect(results.count == SentPacketHistory.maximumCapacity && steps <= results.count + 20)
  }
}
