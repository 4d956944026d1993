import RTCEngine
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Peers that begin when the machine has run for a hundred years, and machines whose stream goes on for so long.
@Suite struct LongClockTests {
  private static let year = TimeDelta.seconds(Int64(365 * 86_400))

  @Test(arguments: [4, 7, 10, 97, 98, 100] as [Int64])
  func `two peers connect and exchange pictures and sound after years of uptime`(_ years: Int64) throws {
    var options = PeerPair.Options()
    options.start = .zero + Self.year * years
    options.configure = { side, configuration in
      if side == .offerer { configuration.sendsAudio = .init() } else { configuration.receivesAudio = true }
    }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.network[.aToB].loss = 0.05
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(12))
    #expect(pair.areConnected)
    let chain = FrameChain(pair.receiver.frames)
    #expect(chain.isSound && chain.numbers.count > 100)
    #expect(pair.sender.peer.statistics.roundTripTime ?? .zero < .seconds(1))
  }

  @Test(arguments: [8_000, 48_000, 90_000] as [Int64]) func `the account of a stream goes on for a hundred years`(
    _ rate: Int64
  ) {
    var statistics = ReceptionStatistics(first: Extended(100_000), clockRate: rate)
    var number: Int64 = 100_000
    for week in 0..<5_220 as Range<Int64> {
      let now = Timestamp.zero + .seconds(week * 7 * 86_400)
      for _ in 0..<3 {
        let ticks = UInt32(truncatingIfNeeded: now.ticks(atRate: rate))
        statistics.count(Extended(number), timestamp: RTPTimestamp(ticks), arrival: now)
        number += 1
      }
    }
    #expect(statistics.received == 5_220 * 3 && statistics.jitter == 0)
    #expect(statistics.cumulativeLost == 0)
  }

  /// A laptop's lid was closed for years, or a virtual machine was restored.
  @Test func `a leap of the clock by a hundred years ends a connection and nothing else`() throws {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(2))
    pair.leap(by: Self.year * 100)
    pair.run(for: .seconds(2))
    #expect(!pair.areConnected)
  }

  @Test func `the wall clock of a remote sender is told for any report`() {
    for ntp in [0, 1, UInt64.max / 2, UInt64.max - 1, .max] {
      for timestamp in [0, 1, UInt32.max / 2, .max] {
        for rate in [1, 8_000, 90_000] as [Int64] {
          var clock = RemoteClock(rate: rate)
          clock.note(SenderClock(ntpTime: NTPTimestamp(ntp), rtpTime: RTPTimestamp(timestamp)))
          for asked in [0, UInt32.max / 2, .max] { #expect(clock.wallTime(of: RTPTimestamp(asked)) != nil) }
        }
      }
    }
  }
}
