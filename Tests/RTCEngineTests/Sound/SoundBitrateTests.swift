import RTCEngine
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct SoundBitrate {
  /// The rates the sender of sound was told over `seconds` of sound at `loss`, all in kbit/s.
  private func rates(loss: Double, seconds: Double) throws -> [Int64] {
    var options = PeerPair.Options.soundAlone
    options.seed = 11
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.network[pair.mediaDirection].loss = loss
    pair.sender.audioSource = SyntheticAudio(from: pair.now)
    pair.run(for: .seconds(seconds))
    return pair.sender.events.compactMap { _, event in
      if case .audioTargetBitrateChanged(let rate, _) = event { rate.bitsPerSecond / 1_000 } else { nil }
    }
  }

  @Test func `without loss the sound rises to its ceiling`() throws {
    let rates = try rates(loss: 0, seconds: 40)
    #expect(rates.first == 64 && rates.last == 96)
    #expect(rates == rates.sorted())
  }

  @Test func `at critical loss it falls each second, never below its floor`() throws {
    let rates = try rates(loss: 0.4, seconds: 30)
    #expect((rates.last ?? 0) == 6)
    #expect(rates.allSatisfy { $0 >= 6 })
  }
}
