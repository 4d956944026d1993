import RTCCodecOpus
import RTCMedia
import Testing

@Suite struct Silence {
  private func encoder(_ application: AudioEncoderSettings.Application) throws -> OpusAudioEncoder {
    var settings = AudioEncoderSettings()
    settings.application = application
    settings.channels = 1
    settings.bitrate = application == .voice ? 24_000 : 96_000
    return try OpusAudioEncoder(settings)
  }

  @Test(arguments: [AudioEncoderSettings.Application.audio, .voice]) func `silence costs next to nothing`(
    _ application: AudioEncoderSettings.Application
  ) throws {
    let encoder = try encoder(application)
    for index in 0..<100 { _ = try encoder.encode(Array(Loss.voice[index * 960..<(index + 1) * 960])) }
    let silence = [Float](repeating: 0, count: 960)
    for _ in 0..<10 { _ = try encoder.encode(silence) }
    var packets = 0
    var bytes = 0
    for _ in 0..<500 {
      guard let packet = try encoder.encode(silence) else { continue }
      packets += 1
      bytes += packet.count
    }
    // A sign of life now and then, over ten seconds.
    #expect((20...30).contains(packets))
    #expect(bytes < 2_500)
    #expect(try encoder.encode(Array(Loss.voice[..<960])) != nil)
  }

  @Test(arguments: [0, 5, 10]) func `soft music is not silence`(_ complexity: Int) throws {
    var settings = AudioEncoderSettings()
    settings.complexity = complexity
    let encoder = try OpusAudioEncoder(settings)
    for index in 0..<200 {
      let tone = Tone.samples(440, count: 960, from: index * 960, amplitude: index < 50 ? 0.5 : 0.001)
      #expect(try encoder.encode(Tone.stereo(tone, tone)) != nil)
    }
  }

  @Test func `silence is sent when asked for`() throws {
    var settings = AudioEncoderSettings()
    settings.usesDiscontinuousTransmission = false
    let encoder = try OpusAudioEncoder(settings)
    for _ in 0..<100 { #expect(try encoder.encode([Float](repeating: 0, count: 1_920)) != nil) }
  }

  @Test func `what comes after silence is heard at once, at its level`() throws {
    let encoder = try OpusAudioEncoder(AudioEncoderSettings())
    let decoder = try OpusAudioDecoder()
    for _ in 0..<200 {
      guard let packet = try encoder.encode([Float](repeating: 0, count: 1_920)) else { continue }
      #expect(Tone.loudness(try decoder.decode(packet)) < 0.000_1)
    }
    var heard: [Float] = []
    for index in 0..<5 {
      let tone = Tone.samples(1_000, count: 960, from: index * 960)
      heard += try decoder.decode(#require(try encoder.encode(Tone.stereo(tone, tone))))
    }
    #expect(abs(Tone.level(heard.channel(0).suffix(2_880), at: 1_000) - 0.25) < 0.03)
  }
}

extension Tone {
  fileprivate static func level(_ samples: ArraySlice<Float>, at frequency: Double) -> Double {
    level(Array(samples), at: frequency)
  }
}
