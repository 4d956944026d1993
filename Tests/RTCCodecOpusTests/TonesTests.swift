import FeatureKit
import RTCCodecOpus
import RTCMedia
import RTCWire
import Testing

@Suite struct Tones {
  @Test(.feature("S4.2"), arguments: [10, 20, 40, 60], [1, 2]) func `a tone comes out at its pitch and level`(
    _ milliseconds: Int, _ channels: Int
  ) throws {
    var settings = AudioEncoderSettings()
    settings.frameMilliseconds = milliseconds
    settings.channels = channels
    let encoder = try OpusAudioEncoder(settings)
    let decoder = try OpusAudioDecoder(channels: channels)
    var heard: [Float] = []
    let frame = milliseconds * 48
    for index in 0..<(1_000 / milliseconds) {
      let tone = Tone.samples(1_000, count: frame, from: index * frame)
      let packet = try #require(try encoder.encode(channels == 2 ? Tone.stereo(tone, tone) : tone))
      #expect(OpusPacket(packet)?.sampleCount == frame)
      let samples = try decoder.decode(packet)
      #expect(samples.count == frame * channels)
      heard += channels == 2 ? samples.channel(0) : samples
    }
    let settled = Array(heard.dropFirst(9_600).prefix(24_000))
    #expect(abs(Tone.level(settled, at: 1_000) - 0.25) < 0.01)
    for other in [500.0, 950, 1_050, 2_000, 5_000] { #expect(Tone.level(settled, at: other) < 0.005) }
  }

  @Test func `the two channels stay apart`() throws {
    let encoder = try OpusAudioEncoder(AudioEncoderSettings())
    let decoder = try OpusAudioDecoder()
    var heard: [Float] = []
    for index in 0..<50 {
      let left = Tone.samples(440, count: 960, from: index * 960)
      let right = Tone.samples(3_000, count: 960, from: index * 960)
      let packet = try #require(try encoder.encode(Tone.stereo(left, right)))
      #expect(OpusPacket(packet)?.channels == 2)
      heard += try decoder.decode(packet)
    }
    let settled = Array(heard.dropFirst(19_200).prefix(48_000))
    #expect(abs(Tone.level(settled.channel(0), at: 440) - 0.25) < 0.01)
    #expect(Tone.level(settled.channel(0), at: 3_000) < 0.01)
    #expect(abs(Tone.level(settled.channel(1), at: 3_000) - 0.25) < 0.02)
    #expect(Tone.level(settled.channel(1), at: 440) < 0.01)
  }

  @Test(arguments: [16_000, 64_000, 128_000, 256_000]) func `the bitrate is kept to`(_ bitrate: Int) throws {
    var settings = AudioEncoderSettings()
    settings.bitrate = bitrate
    let encoder = try OpusAudioEncoder(settings)
    var bytes = 0
    var noise = UInt64(1)
    for _ in 0..<100 {
      let samples = (0..<1_920).map { _ -> Float in
        noise = noise &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Float(Int32(truncatingIfNeeded: noise >> 32)) / Float(Int32.max) * 0.3
      }
      bytes += try encoder.encode(samples)?.count ?? 0
    }
    #expect(abs(Double(bytes * 8) / 2 / Double(bitrate) - 1) < 0.25)
  }

  @Test(arguments: [20, 60]) func `no packet is larger than a datagram can carry`(_ milliseconds: Int) throws {
    var settings = AudioEncoderSettings()
    settings.bitrate = 510_000
    settings.frameMilliseconds = milliseconds
    let encoder = try OpusAudioEncoder(settings)
    for index in 0..<20 {
      let samples = (0..<milliseconds * 96).map { Float(($0 * 7_919 + index * 104_729) % 2_003) / 1_001 - 1 }
      let packet = try #require(try encoder.encode(samples))
      #expect(packet.count <= OpusAudioEncoder.maximumPacketSize)
    }
  }
}
