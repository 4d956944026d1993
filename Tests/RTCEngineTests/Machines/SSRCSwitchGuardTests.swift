import RTCEngine
import RTCPrimitives
import Testing

@Suite struct SSRCSwitchGuardTests {
  private func at(_ milliseconds: Int64) -> Timestamp { .zero + .milliseconds(milliseconds) }

  @Test func `a new source is followed at once and the old one is not followed back`() {
    var change = SSRCSwitchGuard()
    #expect(change.accepts(SSRC(1), after: nil, now: at(0)) == true)
    #expect(change.accepts(SSRC(2), after: SSRC(1), now: at(20)) == true)
    change.hear(at(30))
    #expect(change.accepts(SSRC(1), after: SSRC(2), now: at(40)) == false)
    change.hear(at(500))
    #expect(change.accepts(SSRC(1), after: SSRC(2), now: at(1_400)) == false)
    // Unless the new one has fallen silent.
    #expect(change.accepts(SSRC(1), after: SSRC(2), now: at(1_500)) == true)
  }

  @Test func `a storm of sources is not followed`() {
    var change = SSRCSwitchGuard()
    var current: SSRC?
    var followed = 0
    for number in 0..<1_000 as Range<UInt32> {
      guard change.accepts(SSRC(number), after: current, now: at(Int64(number))) else { continue }
      current = SSRC(number)
      followed += 1
    }
    #expect(followed <= 6)
  }
}

@Suite struct SSRCTableTests {
  private let owners = {
    var negotiation = Peers.end("a")
    return [negotiation.add(Peers.video()), negotiation.add(Peers.video())]
  }()

  private func at(_ milliseconds: Int64) -> Timestamp { .zero + .milliseconds(milliseconds) }

  @Test func `a source belongs to whoever its packets name`() {
    var table = SSRCTable()
    #expect(table.owner(of: SSRC(1)) == nil)
    #expect(table.bind(SSRC(1), to: owners[0], now: at(0)) == .bound)
    #expect(table.owner(of: SSRC(1)) == owners[0])
    #expect(table.bind(SSRC(1), to: owners[0], now: at(1)) == .bound)
    #expect(table.bind(SSRC(1), to: owners[1], now: at(10)) == .refused)
    #expect(table.owner(of: SSRC(1)) == owners[0])
    #expect(table.bind(SSRC(1), to: owners[1], now: at(1_000)) == .moved(from: owners[0]))
    #expect(table.owner(of: SSRC(1)) == owners[1])
  }

  @Test func `described sources give way to packets at once`() {
    var table = SSRCTable()
    table.describe([(SSRC(1), owners[0])], receiving: Set(owners))
    #expect(table.bind(SSRC(1), to: owners[1], now: at(0)) == .moved(from: owners[0]))
  }

  @Test func `learned sources outlive a new description while their owner receives`() {
    var table = SSRCTable()
    _ = table.bind(SSRC(1), to: owners[0], now: at(0))
    _ = table.bind(SSRC(2), to: owners[1], now: at(0))
    table.describe([], receiving: [owners[0]])
    #expect(table.owner(of: SSRC(1)) == owners[0] && table.owner(of: SSRC(2)) == nil)
  }

  @Test func `the table does not grow without end`() {
    var table = SSRCTable()
    for number in 0..<10_000 as Range<UInt32> { _ = table.bind(SSRC(number), to: owners[0], now: at(0)) }
    let known = (0..<10_000 as Range<UInt32>).count { table.owner(of: SSRC($0)) != nil }
    #expect(known == SSRCTable.capacity)
    #expect(table.owner(of: SSRC(9_999)) == owners[0])
  }
}
