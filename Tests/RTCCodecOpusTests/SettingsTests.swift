import RTCCodecOpus
import RTCMedia
import RTCWire
import Testing

@Suite struct Settings {
  @Test func `what Opus cannot do is refused in a sentence`() {
    let changes: [(inout AudioEncoderSettings) -> Void] = [
      { $0.channels = 0 }, { $0.channels = 3 }, { $0.frameMilliseconds = 15 }, { $0.frameMilliseconds = -20 },
      { $0.bitrate = 5_999 }, { $0.bitrate = 510_001 }, { $0.bitrate = .min }, { $0.complexity = 11 },
      { $0.maximumSampleRate = 7_999 }, { $0.maximumSampleRate = 96_000 }, { $0.expectedLoss = -0.1 },
      { $0.expectedLoss = .nan }, { $0.expectedLoss = .infinity },
    ]
    for change in changes {
      var settings = AudioEncoderSettings()
      change(&settings)
      #expect(throws: AudioEncoderError.self) { try OpusAudioEncoder(settings) }
      let encoder = try? OpusAudioEncoder(AudioEncoderSettings())
      #expect(throws: AudioEncoderError.self) { try encoder?.reconfigure(settings) }
      #expect(encoder?.settings == AudioEncoderSettings())
    }
  }

  @Test func `a frame must be whole`() throws {
    let encoder = try OpusAudioEncoder(AudioEncoderSettings())
    for count in [0, 960, 1_919, 1_921, 3_840] {
      #expect(throws: AudioEncoderError.wrongSampleCount(expected: 1_920, got: count)) {
        try encoder.encode([Float](repeating: 0, count: count))
      }
    }
  }

  @Test func `everything can change between two frames, and a decoder follows`() throws {
    var settings = AudioEncoderSettings()
    let encoder = try OpusAudioEncoder(settings)
    let decoder = try OpusAudioDecoder()
    for step in 0..<24 {
      settings.channels = step % 2 + 1
      settings.frameMilliseconds = [10, 20, 40, 60][step % 4]
      settings.bitrate = 16_000 * (step % 8 + 1)
      settings.application = step % 3 == 0 ? .voice : .audio
      settings.expectedLoss = Double(step % 5) / 10
      settings.complexity = step % 11
      settings.usesDiscontinuousTransmission = step % 2 == 0
      settings.usesForwardErrorCorrection = step % 3 == 0
      try encoder.reconfigure(settings)
      #expect(encoder.settings == settings)
      for index in 0..<10 {
        let tone = Tone.samples(700, count: settings.frameMilliseconds * 48, from: index * 2_880)
        let packet = try #require(try encoder.encode(settings.channels == 2 ? Tone.stereo(tone, tone) : tone))
        #expect(OpusPacket(packet)?.sampleCount == settings.frameMilliseconds * 48)
        #expect(try decoder.decode(packet).count == settings.frameMilliseconds * 96)
      }
    }
  }

  /// Packets of a second of two tones, one in each channel and high up.
  private func packets(_ change: (inout AudioEncoderSettings) -> Void) throws -> [[UInt8]] {
    var settings = AudioEncoderSettings()
    let encoder = try OpusAudioEncoder(settings)
    change(&settings)
    try encoder.reconfigure(settings)
    return try (0..<50).map { index in
      let (low, high) = (
        Tone.samples(300, count: 960, from: index * 960), Tone.samples(9_000, count: 960, from: index * 960)
      )
      return try #require(try encoder.encode(Tone.stereo(low, high)))
    }
  }

  @Test func `two channels are coded as one where one is asked for`() throws {
    #expect(try packets { _ in }.allSatisfy { OpusPacket($0)?.channels == 2 })
    #expect(try packets { $0.codesMono = true }.dropFirst(2).allSatisfy { OpusPacket($0)?.channels == 1 })
  }

  @Test(arguments: [8_000, 16_000, 24_000]) func `what the far side cannot play is left out`(_ rate: Int) throws {
    func heard(_ packets: [[UInt8]]) throws -> Double {
      let decoder = try OpusAudioDecoder()
      let sound = Array(try packets.flatMap { try decoder.decode($0) }.dropFirst(9_600))
      return Tone.level(sound.channel(1), at: 9_000)
    }
    let whole = try heard(packets { _ in })
    let narrow = try heard(packets { $0.maximumSampleRate = rate })
    #expect(rate < 24_000 ? narrow < whole / 20 : narrow > whole / 2)
  }

  @Test func `packets are of one size where that is asked for`() throws {
    #expect(Set(try packets { $0.isConstantBitrate = true }.dropFirst(2).map(\.count)).count == 1)
  }

  @Test func `samples beyond any loudness do no harm`() throws {
    let encoder = try OpusAudioEncoder(AudioEncoderSettings())
    let decoder = try OpusAudioDecoder()
    for value in [Float.infinity, -.infinity, .nan, .greatestFiniteMagnitude, 1e10, -5, .leastNonzeroMagnitude] {
      let packet = try encoder.encode([Float](repeating: value, count: 1_920))
      if let packet { #expect(try decoder.decode(packet).allSatisfy { $0.isFinite }) }
    }
    for index in 0..<50 {
      let tone = Tone.samples(700, count: 960, from: index * 960)
      let samples = try decoder.decode(#require(try encoder.encode(Tone.stereo(tone, tone))))
      if index == 49 { #expect(abs(Tone.level(samples.channel(0), at: 700) - 0.25) < 0.05) }
    }
  }

  @Test func `the library names itself, and its delay`() throws {
    #expect(OpusAudioEncoder.library.hasPrefix("libopus "))
    #expect((100...960).contains(try OpusAudioEncoder(AudioEncoderSettings()).lookahead))
    #expect(try OpusAudioEncoder.factory(AudioEncoderSettings()).settings == AudioEncoderSettings())
  }

  @Test func `a decoder refuses what is no packet, and goes on`() throws {
    let decoder = try OpusAudioDecoder()
    #expect(throws: AudioDecoderError.emptyPacket) { try decoder.decode([]) }
    #expect(throws: AudioDecoderError.emptyPacket) { try decoder.recover(sampleCount: 960, from: []) }
    #expect(throws: AudioDecoderError.self) { try decoder.decode([0xFF, 0x3F, 0xFF]) }
    for count in [0, -120, 119, 5_761, 6_000] {
      #expect(throws: AudioDecoderError.wrongSampleCount(count)) { try decoder.conceal(sampleCount: count) }
    }
    #expect(throws: AudioDecoderError.unsupportedChannels(3)) { try OpusAudioDecoder(channels: 3) }
    var noise = UInt64(7)
    for length in 1..<400 {
      let packet = (0..<length).map { _ -> UInt8 in
        noise = noise &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: noise >> 56)
      }
      let samples = try? decoder.decode(packet)
      // The library and the reader of headers agree on what is a packet.
      #expect(samples?.count == OpusPacket(packet).map { $0.sampleCount * 2 })
    }
  }
}
