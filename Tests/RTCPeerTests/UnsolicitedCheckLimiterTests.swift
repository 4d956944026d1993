import RTCPeer
import RTCPrimitives
import Testing

/// Checks to addresses that sessions name and that have not answered.
@Suite struct UnsolicitedCheckLimiterTests {
  private let victim = IPAddress.v4(0xC000_0201)
  private let now = Timestamp.zero + .seconds(Int64(100))

  private func sent(_ checks: inout UnsolicitedCheckLimiter, to ip: IPAddress, _ count: Int, _ now: Timestamp) -> Int {
    (0..<count).count { _ in checks.maySend(to: ip, now: now) }
  }

  @Test func `an address is sent few checks, however many sessions name it`() {
    var checks = UnsolicitedCheckLimiter()
    #expect(sent(&checks, to: victim, 10_000, now) == PeerLimits.unsolicitedChecks)
    #expect(checks.refused == UInt64(10_000 - PeerLimits.unsolicitedChecks))
    let later = now + PeerLimits.unsolicitedCheckWindow
    #expect(sent(&checks, to: victim, 10_000, later) == PeerLimits.unsolicitedChecks)
  }

  @Test func `each request that comes from an address allows one more`() {
    var checks = UnsolicitedCheckLimiter()
    for _ in 0..<30 { checks.received(from: victim, now: now) }
    #expect(sent(&checks, to: victim, 1_000, now) == PeerLimits.unsolicitedChecks + 30)
  }

  @Test func `an address that answers is sent what is due`() {
    var checks = UnsolicitedCheckLimiter()
    #expect(sent(&checks, to: victim, 10, now) == 10)
    checks.answered(victim)
    #expect(sent(&checks, to: victim, 1_000, now) == 1_000)
  }

  @Test func `all addresses together are sent no more than the process may`() {
    var checks = UnsolicitedCheckLimiter()
    let all = (0..<3_000 as Range<UInt32>).reduce(0) { $0 + sent(&checks, to: .v4(0x0B00_0000 + $1), 3, now) }
    #expect(all == PeerLimits.unsolicitedChecksInAll)
    // Who sends first is answered all the same.
    checks.received(from: victim, now: now)
    #expect(sent(&checks, to: victim, 10, now) == 1)
  }

  @Test func `no more addresses are watched than there is room for`() {
    var checks = UnsolicitedCheckLimiter()
    for number in 0..<UInt32(PeerLimits.watchedAddresses) { checks.received(from: .v4(0x0B00_0000 + number), now: now) }
    #expect(sent(&checks, to: victim, 10, now) == 0)
    #expect(sent(&checks, to: victim, 10, now + PeerLimits.unsolicitedCheckWindow) == 10)
  }
}
