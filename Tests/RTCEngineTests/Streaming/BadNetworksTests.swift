import RTCEngine
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct BadNetworks {
  @Test(arguments: 1...5 as ClosedRange<UInt64>) func `reordering and duplication do no harm`(_ seed: UInt64) throws {
    var options = PeerPair.Options()
    options.seed = seed
    options.conditions.jitter = .milliseconds(15)
    options.conditions.reorders = true
    options.conditions.duplication = 0.1
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(10))
    pair.sender.source = nil
    pair.run(for: .seconds(1))
    let chain = FrameChain(pair.receiver.frames)
    #expect(chain.isSound)
    #expect(chain.numbers.count >= 250)
    #expect(pair.receiver.peer.statistics.drops[.replay] > 0)  // the duplicates
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>) func `bursts of loss are repaired`(_ seed: UInt64) throws {
    var options = PeerPair.Options()
    options.seed = seed
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.network[pair.mediaDirection].burstLoss = NetworkConditions.BurstLoss(begin: 0.005, end: 0.2)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(20))
    let chain = FrameChain(pair.receiver.frames)
    #expect(chain.isSound)
    #expect(chain.numbers.count >= 470)
    #expect(pair.sender.peer.statistics.video.packetsRetransmitted > 0)
  }

  @Test func `an outage of two seconds ends with a key frame soon after`() throws {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(2))
    pair.network.setConditions(.broken)
    pair.run(for: .seconds(2))
    pair.network.setConditions(.delayed(.milliseconds(20)))
    let back = pair.now
    let before = pair.receiver.frames.count
    pair.run(for: .seconds(3)) { $0.receiver.frames.count > before }
    #expect(pair.now - back < .milliseconds(1_500))
    pair.run(for: .seconds(2))
    #expect(FrameChain(pair.receiver.frames).isSound)
    #expect(pair.receiver.frames.count > before + 20)
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>) func `a viewer on a narrow link has frames left out, not queued`(
    _ seed: UInt64
  ) throws {
    var options = PeerPair.Options()
    options.seed = seed
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.network[pair.mediaDirection].rate = .kilobitsPerSecond(300)
    pair.network[pair.mediaDirection].queueCapacity = 15_000  // 400 ms
    // A source that serves others too: 1 Mbit/s whatever this viewer bears.
    pair.sender.followsTargetBitrate = false
    pair.sender.source = SyntheticVideo(
      interval: .milliseconds(40), frameSize: 5_000, keyFrameSize: 12_000, from: pair.now)
    pair.run(for: .seconds(10))
    let settled = pair.now
    pair.run(for: .seconds(20))
    let chain = FrameChain(pair.receiver.frames)
    #expect(chain.isSound)
    let late = pair.receiver.events.filter { $0.time > settled }
    let frames = late.filter { if case .frameReceived = $0.event { true } else { false } }
    #expect(frames.count >= 40)
    #expect(chain.keyFrames >= 10)
    let statistics = pair.sender.peer.statistics
    #expect(statistics.video.framesSkipped > 200)
    let mean = statistics.video.sendDelay / Int64(max(1, statistics.video.framesSent))
    #expect(mean < .milliseconds(600))
    #expect(statistics.targetBitrate < .kilobitsPerSecond(400))
  }
}
