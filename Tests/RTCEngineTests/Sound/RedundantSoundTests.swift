import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Sound of which each packet brings the one before once more (RFC 2198).
@Suite struct RedundantSound {
  /// A minute of sound at `loss`; the last 30 s count.
  private func pair(loss: Double, isAgreed: Bool = true) throws -> (PeerPair, from: Int) {
    var options = PeerPair.Options.soundAlone
    options.seed = 3
    let configure = options.configure
    options.configure = { side, configuration in
      configure(side, &configuration)
      configuration.offersForwardErrorCorrection = true
    }
    if !isAgreed { options.rewrite = { _, description in description.replacing("red/48000", with: "unknown/48000") } }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.sender.audioSource = SyntheticAudio(from: pair.now)
    pair.network[pair.mediaDirection].loss = loss
    pair.run(for: .seconds(30))
    let heard = pair.receiver.audio.count
    pair.run(for: .seconds(30))
    return (pair, heard)
  }

  /// The share of the packets sent after the first `from` that came in one form or the other.
  private func whole(_ pair: PeerPair, from first: Int) -> Double {
    let numbers = Set(pair.receiver.audio.dropFirst(first).map(\.number))
    guard let low = numbers.min(), let high = numbers.max() else { return 0 }
    return Double(numbers.count) / Double(high - low + 1)
  }

  @Test func `at 10 percent loss 98 of 100 packets are heard, each once and unchanged`() throws {
    let (pair, first) = try pair(loss: 0.1)
    #expect(pair.sender.peer.statistics.audio.redundantPacketsSent > 1_000)
    #expect(whole(pair, from: first) > 0.98)
    let heard = pair.receiver.audio
    #expect(Set(heard.map(\.number)).count == heard.count)
    // Timestamps follow from numbers: what a later packet brought has the place that it had itself.
    let steps = Set(heard.sorted { $0.number < $1.number }.map { Int64($0.timestamp.value) - $0.number * 960 })
    #expect(steps.count <= 2)
    #expect(pair.receiver.peer.statistics.streams.first?.reception?.packetsRecovered ?? 0 > 100)
  }

  @Test func `without loss, and to those who do not take it, sound is sent once`() throws {
    #expect(try pair(loss: 0).0.sender.peer.statistics.audio.redundantPacketsSent == 0)
    let (pair, first) = try pair(loss: 0.1, isAgreed: false)
    #expect(pair.sender.peer.statistics.audio.redundantPacketsSent == 0)
    #expect(whole(pair, from: first) < 0.95)
  }

  @Test func `redundancy ends when the loss does`() throws {
    let (pair, _) = try pair(loss: 0.1)
    pair.network[pair.mediaDirection].loss = 0
    pair.run(for: .seconds(40))
    let before = pair.sender.peer.statistics.audio.redundantPacketsSent
    pair.run(for: .seconds(10))
    #expect(pair.sender.peer.statistics.audio.redundantPacketsSent == before)
  }
}
