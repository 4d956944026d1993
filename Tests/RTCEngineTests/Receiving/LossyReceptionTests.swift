import RTCEngine
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

@Suite struct LossyReception {
  @Test(arguments: [0, 0.02, 0.05, 0.1, 0.2, 0.3]) func `pictures come whole and in order at any loss`(_ share: Double)
    throws
  {
    let pair = try connected()
    pair.network[pair.mediaDirection].loss = share
    pair.network[pair.options.sender.other == .offerer ? .aToB : .bToA].loss = share / 2
    pair.run(for: .seconds(20))
    let chain = FrameChain(pair.receiver.frames)
    #expect(chain.isSound)
    // What the rate allows is less at high loss; that it goes on is what counts.
    #expect(chain.numbers.count >= (share <= 0.1 ? 400 : share <= 0.2 ? 200 : 60))
    #expect(longestPause(pair) < .seconds(share <= 0.1 ? 2 : 6))
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>) func `bursts, reordering and duplication together`(_ seed: UInt64)
    throws
  {
    let pair = try connected(seed: seed)
    pair.network[pair.mediaDirection].burstLoss = NetworkConditions.BurstLoss(begin: 0.01, end: 0.3)
    pair.network[pair.mediaDirection].jitter = .milliseconds(12)
    pair.network[pair.mediaDirection].reorders = true
    pair.network[pair.mediaDirection].duplication = 0.05
    pair.run(for: .seconds(20))
    let chain = FrameChain(pair.receiver.frames)
    #expect(chain.isSound && chain.numbers.count >= 400)
    #expect(longestPause(pair) < .seconds(2))
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>) func `reordering alone costs hardly any repair`(_ seed: UInt64) throws
  {
    let pair = try connected(seed: seed)
    pair.network[pair.mediaDirection].jitter = .milliseconds(15)
    pair.network[pair.mediaDirection].reorders = true
    pair.run(for: .seconds(20))
    #expect(FrameChain(pair.receiver.frames).isSound)
    let sent = pair.sender.peer.statistics.video
    #expect(sent.packetsRetransmitted < sent.packetsSent / 50)
  }

  @Test func `a long way: requests wait for a round trip, and repair still works`() throws {
    let pair = try connected(delay: .milliseconds(300))
    pair.network[pair.mediaDirection].loss = 0.03
    let before = pair.sender.peer.statistics.video
    pair.run(for: .seconds(20))
    let after = pair.sender.peer.statistics.video
    #expect(FrameChain(pair.receiver.frames).isSound)
    let lost = pair.network.counters(pair.mediaDirection).lost
    #expect(after.packetsRetransmitted - before.packetsRetransmitted < lost * 3)
  }

  @Test func `a sender without transport-wide feedback is told what the path bears`() throws {
    var options = PeerPair.Options()
    options.rewrite = { _, description in
      description.split(separator: "\r\n").filter { !$0.contains("transport-cc") && !$0.contains("transport-wide-cc") }
        .joined(separator: "\r\n") + "\r\n"
    }
    options.bitrates.maximum = .megabitsPerSecond(8)
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(5))
    let free = pair.sender.peer.statistics.targetBitrate
    pair.network[pair.mediaDirection].rate = .kilobitsPerSecond(500)
    pair.network[pair.mediaDirection].queueCapacity = 200_000
    pair.run(for: .seconds(15))
    let narrow = pair.sender.peer.statistics.targetBitrate
    #expect(narrow <= free && narrow <= .megabitsPerSecond(1))
    #expect(FrameChain(pair.receiver.frames).isSound)
  }

  private func connected(seed: UInt64 = 1, delay: TimeDelta = .milliseconds(25)) throws -> PeerPair {
    var options = PeerPair.Options()
    options.seed = seed
    options.conditions = .delayed(delay)
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(1))
    return pair
  }

  private func longestPause(_ pair: PeerPair) -> TimeDelta {
    let times = pair.receiver.frames.map(\.received)
    return zip(times.dropFirst(), times).map { $0 - $1 }.max() ?? .distant
  }
}

extension TimeDelta {
  fileprivate static var distant: TimeDelta { TimeDelta(nanoseconds: .max) }
}
