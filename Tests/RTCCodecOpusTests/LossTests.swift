import Glibc
import RTCCodecOpus
import RTCMedia
import Testing

@Suite struct Loss {
  /// A voice-like sound whose pitch and loudness change all the time, so that nothing can be guessed from before.
  static let voice: [Float] = {
    var phase = 0.0
    return (0..<96_000).map { index in
      let time = Double(index) / 48_000
      phase += 2 * .pi * (140 + 50 * sin(2 * .pi * 3.1 * time)) / 48_000
      let loudness = 0.15 * (1 + sin(2 * .pi * 7 * time))
      return Float(loudness * (sin(phase) + 0.5 * sin(2 * phase) + 0.3 * sin(3 * phase) + 0.2 * sin(5 * phase)) / 2)
    }
  }()

  private func packets(_ change: (inout AudioEncoderSettings) -> Void) throws -> [[UInt8]] {
    var settings = AudioEncoderSettings()
    settings.channels = 1
    settings.application = .voice
    settings.bitrate = 32_000
    settings.usesDiscontinuousTransmission = false
    settings.expectedLoss = 0.2
    change(&settings)
    let encoder = try OpusAudioEncoder(settings)
    return try (0..<100).map { try #require(try encoder.encode(Array(Self.voice[$0 * 960..<($0 + 1) * 960]))) }
  }

  /// How far off the lost packets' sound is, as a part of the sound itself.
  private func error(_ packets: [[UInt8]], replacing: (OpusAudioDecoder, Int) throws -> [Float]) throws -> Double {
    let reference = try OpusAudioDecoder(channels: 1)
    let decoder = try OpusAudioDecoder(channels: 1)
    var (off, whole) = (0.0, 0.0)
    for index in 0..<packets.count - 1 {
      let sound = try reference.decode(packets[index])
      guard index % 5 == 4 else {
        _ = try decoder.decode(packets[index])
        continue
      }
      let made = try replacing(decoder, index)
      #expect(made.count == 960)
      off += zip(sound, made).reduce(0) { $0 + pow(Double($1.0 - $1.1), 2) }
      whole += sound.reduce(0) { $0 + pow(Double($1), 2) }
    }
    return (off / whole).squareRoot()
  }

  @Test func `a lost packet is recovered from the one after it`() throws {
    let packets = try packets { _ in }
    let recovered = try error(packets) { try $0.recover(sampleCount: 960, from: packets[$1 + 1]) }
    let concealed = try error(packets) { decoder, _ in try decoder.conceal(sampleCount: 960) }
    #expect(recovered < 0.4)
    #expect(recovered < concealed / 2)
  }

  @Test func `without expected loss nothing is spent on recovery`() throws {
    let with = try packets { _ in }
    let without = try packets { $0.expectedLoss = 0 }
    let off = try packets { $0.usesForwardErrorCorrection = false }
    let recovered = try error(without) { try $0.recover(sampleCount: 960, from: without[$1 + 1]) }
    let concealed = try error(without) { decoder, _ in try decoder.conceal(sampleCount: 960) }
    #expect(abs(recovered - concealed) < 0.15)
    #expect(without != with && off != with)
  }

  @Test func `concealment goes on with what was heard and fades`() throws {
    let encoder = try OpusAudioEncoder(AudioEncoderSettings())
    let decoder = try OpusAudioDecoder()
    var last: [Float] = []
    for index in 0..<50 {
      let tone = Tone.samples(400, count: 960, from: index * 960)
      last = try decoder.decode(#require(try encoder.encode(Tone.stereo(tone, tone))))
    }
    let first = try decoder.conceal(sampleCount: 960)
    #expect(Tone.loudness(first) > Tone.loudness(last) / 2)
    var faded: [Float] = []
    for _ in 0..<50 { faded = try decoder.conceal(sampleCount: 960) }
    #expect(Tone.loudness(faded) < Tone.loudness(last) / 5)
  }
}
