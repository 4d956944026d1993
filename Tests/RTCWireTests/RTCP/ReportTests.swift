import RTCPrimitives
import RTCWire
import Testing

@Suite struct ReportTests {
  private let block = ReportBlock(
    source: SSRC(1_200_895_919), fractionLost: 3, cumulativeLost: -2, highestSequenceNumber: 630, jitter: 1906,
    lastSenderReport: CompactNTPTimestamp(0x1234_5678), delaySinceLastSenderReport: .milliseconds(1500))

  private func reportBlocks(_ bytes: [UInt8]) -> [ReportBlock]? {
    withFirstPacket(bytes) { packet in
      guard let blocks = ReportBlocks(parsing: packet) else { return nil }
      var result: [ReportBlock] = []
      for index in 0..<blocks.count { result.append(blocks[index]) }
      return result
    }
  }

  @Test func `a receiver report of aiortc parses and comes out again`() {
    let bytes = wireBytes("81c9000730b68407479437af03fffffe00000276000007721234567800018000")
    let sender = withFirstPacket(bytes) { packet in ReceiverReport(parsing: packet)?.sender }
    #expect(sender == SSRC(817_267_719))
    #expect(reportBlocks(bytes) == [block])
    let blocks = [block]
    #expect(writtenBytes { ReceiverReport(sender: SSRC(817_267_719)).write(into: &$0, reports: blocks.span) } == bytes)
    #expect(bytes.count == ReceiverReport.size(reports: 1))
  }

  @Test func `a sender report of ffmpeg parses and comes out again`() throws {
    let bytes = wireBytes("80c80006c0e5d0b6eeab9be48147ae14dbd2faab0000000000000000")
    let report = try #require(withFirstPacket(bytes) { SenderReport(parsing: $0) })
    #expect(report.sender == SSRC(0xC0E5_D0B6))
    #expect(report.ntpTime == NTPTimestamp(0xEEAB_9BE4_8147_AE14))
    #expect(report.rtpTime == RTPTimestamp(0xDBD2_FAAB))
    #expect(writtenBytes { report.write(into: &$0) } == bytes)
    #expect(bytes.count == SenderReport.size())
  }

  @Test func `blocks follow a sender report`() {
    let report = SenderReport(
      sender: SSRC(1), ntpTime: NTPTimestamp(2), rtpTime: RTPTimestamp(3), packetCount: 4, octetCount: 5)
    var second = block
    second.source = SSRC(9)
    let blocks = [block, second]
    let bytes = writtenBytes { report.write(into: &$0, reports: blocks.span) }
    #expect(withFirstPacket(bytes) { SenderReport(parsing: $0) } == report)
    #expect(reportBlocks(bytes) == blocks)
  }

  @Test func `promised blocks must be there`() {
    let bytes = wireBytes("82c9000730b68407479437af03fffffe00000276000007721234567800018000")
    #expect(withFirstPacket(bytes) { ReceiverReport(parsing: $0) } == nil)
    #expect(reportBlocks(bytes) == nil)
    #expect(withFirstPacket(wireBytes("80c80001c0e5d0b6")) { SenderReport(parsing: $0) } == nil)
  }

  @Test func `the round trip is arrival minus report minus delay`() {
    let sent = NTPTimestamp(sinceUnixEpoch: .seconds(1_700_000_000))
    let arrival = NTPTimestamp(sinceUnixEpoch: .seconds(1_700_000_000) + .milliseconds(1540))
    var block = block
    block.lastSenderReport = sent.compact
    let time = block.roundTripTime(arrival: arrival)
    #expect(time.map { abs($0.microseconds - 40_000) < 100 } == true)
    block.delaySinceLastSenderReport = .seconds(9)
    #expect(block.roundTripTime(arrival: arrival) == .zero)
    block.lastSenderReport = CompactNTPTimestamp(0)
    #expect(block.roundTripTime(arrival: arrival) == nil)
  }

  @Test func `NTP time starts in 1900 and counts 2⁻³² s`() {
    #expect(NTPTimestamp(sinceUnixEpoch: .zero).value == 2_208_988_800 << 32)
    #expect(NTPTimestamp(sinceUnixEpoch: .milliseconds(500)).value & 0xFFFF_FFFF == 1 << 31)
    #expect(NTPTimestamp(sinceUnixEpoch: .milliseconds(-500)).value == UInt64(2_208_988_799) << 32 | 1 << 31)
    #expect(NTPTimestamp(0x1111_2222_3333_4444).compact.value == 0x2222_3333)
    #expect(CompactNTPTimestamp(0).since(CompactNTPTimestamp(0xFFFF_0000)) == .seconds(1))
  }
}
