import RTCCodecOpus
import RTCMedia
import Testing

@Suite struct Silence {
  @Test("silence costs next to nothing", arguments: [AudioEncoderSettings.Application.audio, .voice])
  func costsNothing(_ application: AudioEncoderSettings.Application) throws {
    var settings = AudioEncoderSettings()
    settings.application = application
    let encoder = try OpusAudioEncoder(settings)
    for index in 0..<50 {
      let tone = Tone.samples(300, count: 960, from: index * 960)
      #expect(try encoder.encode(Tone.stereo(tone, tone)) != nil)
    }
    var packets = 0
    var bytes = 0
    for _ in 0..<500 {
      guard let packet = try encoder.encode([Float](repeating: 0, count: 1_920)) else { continue }
      packets += 1
      bytes += packet.count
    }
    // A word now and then that all is well, over ten seconds.
    #expect(packets < 60 && bytes < 1_500)
    let tone = Tone.samples(300, count: 960)
    #expect(try encoder.encode(Tone.stereo(tone, tone)) != nil)
  }

  @Test("silence is sent when asked for")
  func withoutDTX() throws {
    var settings = AudioEncoderSettings()
    settings.usesDiscontinuousTransmission = false
    let encoder = try OpusAudioEncoder(settings)
    for _ in 0..<100 { #expect(try encoder.encode([Float](repeating: 0, count: 1_920)) != nil) }
  }
}
