import FeatureKit
import RTCEngine
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct Bitrates {
  @Test(.feature("S0.4", "S0.44")) func `at 20 percent loss the rate falls by a quarter a second, down to the floor`()
    throws
  {
    let pair = try connectedPair()
    pair.network[pair.mediaDirection].loss = 0.2
    // Of everything together: what repair takes of it is not the video's.
    var rates: [Int64] = []
    for _ in 0..<20 {
      pair.run(for: .seconds(1))
      rates.append(pair.sender.peer.statistics.targetBitrate.bitsPerSecond)
    }
    for (before, after) in zip(rates, rates.dropFirst()).prefix(4) {
      #expect(abs(Double(after) / Double(before) - 0.75) < 0.01)
    }
    #expect(rates.min() == 100_000)
  }

  @Test(.feature("S0.4", "S0.46"))
  func `on a clean network the rate rises by 15 percent every five seconds, up to the ceiling`() throws {
    let pair = try connectedPair()
    pair.run(for: .seconds(90))
    let rates = pair.sender.bitrates
    for (before, after) in zip(rates, rates.dropFirst()).dropLast() {
      #expect(abs(Double(after.rate.bitsPerSecond) / Double(before.rate.bitsPerSecond) - 1.15) < 0.01)
    }
    for (before, after) in zip(rates.dropFirst(), rates.dropFirst(2)) {
      #expect(after.time - before.time == .seconds(5))
    }
    #expect(rates.last?.rate == .megabitsPerSecond(6))
    #expect(pair.sender.peer.statistics.targetBitrate == .megabitsPerSecond(6))
  }

  @Test func `at three percent loss the rate stays`() throws {
    let pair = try connectedPair()
    pair.network[pair.mediaDirection].loss = 0.03
    pair.run(for: .seconds(30))
    let rate = Double(pair.sender.peer.statistics.targetBitrate.bitsPerSecond)
    #expect((700_000...1_200_000).contains(rate))
  }

  @Test func `new limits count at once`() throws {
    let pair = try connectedPair()
    pair.perform(pair.options.sender, .setBitrateLimits(BitrateLimits(maximum: .kilobitsPerSecond(400))))
    #expect(pair.sender.bitrates.last?.rate == .kilobitsPerSecond(400))
    pair.run(for: .seconds(10))
    #expect(pair.sender.bitrates.last?.rate == .kilobitsPerSecond(400))
  }

  @Test func `the round trip is measured by reports`() throws {
    let pair = try connectedPair()
    pair.run(for: .seconds(5))
    let time = try #require(pair.sender.peer.statistics.roundTripTime)
    #expect((39_000...45_000).contains(time.microseconds))
  }

  /// By the stepped rule, without repair packets.
  private func connectedPair() throws -> PeerPair {
    var options = PeerPair.Options()
    options.configure = { _, configuration in
      configuration.makeEstimator = RateControlAlgorithm.stepped.makeEstimator
      configuration.usesForwardErrorCorrection = false
    }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: pair.now)
    return pair
  }
}
