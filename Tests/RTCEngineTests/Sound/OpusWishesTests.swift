import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Listeners' Opus preferences in descriptions (RFC 7587 §6.1), and their combination for one encoder.
@Suite struct OpusPreferencesOfListeners {
  /// A listener that is sent sound, and whose description says `parameters` of Opus.
  private func listener(_ parameters: String, seed: UInt64) throws -> PeerPair {
    var options = PeerPair.Options.soundAlone
    options.seed = seed
    options.rewrite = { side, description in
      guard side == .answerer else { return description }
      return description.split(separator: "\r\n").map { line in
        line.hasPrefix("a=fmtp:") ? "\(line.prefix { $0 != " " }) \(parameters)" : String(line)
      }.joined(separator: "\r\n") + "\r\n"
    }
    return try PeerPair(options)
  }

  /// Tells `audience` what `pair`'s sender learned since `seen` events, as a track does.
  private func follow(_ pair: PeerPair, _ seen: inout Int, _ audience: inout OpusPreferenceSet<Int>, as listener: Int) {
    for (_, event) in pair.sender.events.dropFirst(seen) {
      switch event {
      case .sendingStarted: _ = audience.set(OpusPreferences(), of: listener)
      case .sendingStopped, .stateChanged(.ended): _ = audience.set(nil, of: listener)
      case .opusPreferencesChanged(let wishes, _): _ = audience.set(wishes, of: listener)
      default: break
      }
    }
    seen = pair.sender.events.count
  }

  @Test func `the most demanding of two listeners is followed, as they come and go`() throws {
    let modest = try listener("maxaveragebitrate=24000;stereo=0;maxplaybackrate=16000;useinbandfec=0;cbr=1", seed: 1)
    let demanding = try listener("maxaveragebitrate=64000;stereo=1;useinbandfec=1;usedtx=0", seed: 2)
    var audience = OpusPreferenceSet<Int>()
    var seen = (0, 0)
    let settings = AudioEncoderSettings()

    try #require(modest.connect() != nil)
    follow(modest, &seen.0, &audience, as: 1)
    var now = audience.combined.applied(to: settings)
    #expect(now.bitrate == 24_000 && now.codesMono && now.maximumSampleRate == 16_000)
    #expect(!now.usesForwardErrorCorrection && now.isConstantBitrate && !now.usesDiscontinuousTransmission)

    try #require(demanding.connect() != nil)
    follow(demanding, &seen.1, &audience, as: 2)
    now = audience.combined.applied(to: settings)
    #expect(now.bitrate == 64_000 && !now.codesMono && now.maximumSampleRate == 48_000)
    #expect(now.usesForwardErrorCorrection && now.isConstantBitrate && !now.usesDiscontinuousTransmission)

    modest.perform(.offerer, .close)
    modest.run(for: .seconds(1))
    follow(modest, &seen.0, &audience, as: 1)
    now = audience.combined.applied(to: settings)
    #expect(now.bitrate == 64_000 && !now.isConstantBitrate && !now.usesDiscontinuousTransmission)

    demanding.perform(.offerer, .close)
    demanding.run(for: .seconds(1))
    follow(demanding, &seen.1, &audience, as: 2)
    #expect(audience.combined.applied(to: settings) == settings)
  }

  @Test func `one that states no limit lifts it for all, and says nothing of what it leaves unsaid`() {
    var audience = OpusPreferenceSet<Int>()
    let wishes = OpusPreferences(FormatParameters("minptime=10;maxaveragebitrate=20000;stereo=0;maxplaybackrate=8000"))
    #expect(audience.set(wishes, of: 1) == wishes)
    // What browsers say.
    let all = audience.set(OpusPreferences(FormatParameters("minptime=10;useinbandfec=1")), of: 2)
    #expect(all?.maximumBitrate == nil && all?.maximumPlaybackRate == nil && all?.isStereo == nil)
    #expect(all?.applied(to: AudioEncoderSettings()) == AudioEncoderSettings())
    #expect(audience.set(nil, of: 3) == nil)
    #expect(audience.set(nil, of: 2) == wishes)
  }

  @Test(
    arguments: [
      ("maxaveragebitrate=0;maxplaybackrate=1", 6_000, 8_000),
      ("maxaveragebitrate=999999999;maxplaybackrate=96000", 510_000, 48_000),
      ("maxaveragebitrate=-5;maxplaybackrate=x;stereo=2;cbr=yes", nil, nil),
      ("maxaveragebitrate=99999999999999999999", nil, nil),
    ] as [(String, Int?, Int?)]) func `numbers out of range are taken to the nearer bound, and nonsense says nothing`(
      _ text: String, _ bitrate: Int?, _ rate: Int?
    )
  {
    let wishes = OpusPreferences(FormatParameters(text))
    #expect(wishes.maximumBitrate == bitrate && wishes.maximumPlaybackRate == rate)
    #expect(wishes.isStereo == nil && wishes.isConstantBitrate == nil)
  }

  @Test func `nothing is done that the settings do not have`() {
    var settings = AudioEncoderSettings()
    settings.bitrate = 32_000
    settings.usesForwardErrorCorrection = false
    settings.usesDiscontinuousTransmission = false
    let wishes = OpusPreferences(FormatParameters("maxaveragebitrate=64000;stereo=1;useinbandfec=1;usedtx=1"))
    #expect(wishes.applied(to: settings) == settings)
  }
}
