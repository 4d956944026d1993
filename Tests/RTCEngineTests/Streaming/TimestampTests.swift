import FeatureKit
import RTCEngine
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct Timestamps {
  @Test(.feature("S0.73", "S4.41")) func `RTP timestamps follow the capture times at 90 kHz`() throws {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(interval: .milliseconds(40), from: pair.now)
    pair.run(for: .seconds(2))
    let frames = pair.receiver.frames
    #expect(frames.count > 40)
    for (before, after) in zip(frames, frames.dropFirst()) {
      #expect(abs(after.timestamp.distance(from: before.timestamp) - 3_600) <= 1)
    }
  }

  @Test(arguments: [1, 2] as [UInt64]) func `sequence numbers, picture numbers and timestamps may wrap`(_ seed: UInt64)
    throws
  {
    var options = PeerPair.Options()
    options.seed = seed
    options.bitrates.start = .megabitsPerSecond(6)
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.network[pair.mediaDirection].loss = 0.005
    pair.sender.source = SyntheticVideo(
      interval: .milliseconds(5), frameSize: 2_200, keyFrameSize: 20_000, from: pair.now)
    pair.run(for: .seconds(180))
    let chain = FrameChain(pair.receiver.frames)
    #expect(chain.isSound)
    #expect(pair.sender.peer.statistics.video.packetsSent > 70_000)
    #expect(chain.numbers.count > 35_000)
    #expect(chain.keyFrames <= 3)
  }
}
