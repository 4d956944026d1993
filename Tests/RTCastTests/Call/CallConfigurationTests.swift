import FeatureKit
import RTCPrimitives
import RTCast
import Testing

@Suite struct CallConfigurationTests {
  @Test(
    .feature(
      "S0.28", "S0.29", "S0.30", "S0.31", "S0.32", "S0.33", "S0.34", "S0.35", "S0.36", "S0.37", "S0.38", "S0.39",
      "S0.40", "S0.41", "S0.42", "S0.43"))
  func `all of a configuration comes from JSON, and what it leaves out has its default`() throws {
    let json = """
      {
        "iceServers": [
          { "urlStrings": ["stun:stun.example:3478"] },
          { "urlStrings": ["turn:turn.example:3478"], "username": "u", "credential": "c" }
        ],
        "connectionTimeout": 12, "ringTimeout": 7,
        "video": { "minBitrate": 200000, "maxBitrate": 3000000, "startBitrate": 900000, "bitrateStepUp": 0.2 },
        "audio": { "maxBitrate": 64000 }
      }
      """
    let configuration = try CallConfiguration(json: json.utf8, file: "call.json")
    #expect(configuration.iceServers.count == 2)
    #expect(configuration.iceServers[1].username == "u")
    #expect(configuration.connectionTimeout == .seconds(12))
    #expect(configuration.ringTimeout == .seconds(7))
    #expect(configuration.video.minimum == BitRate(bitsPerSecond: 200_000))
    #expect(configuration.video.stepUp == 0.2)
    #expect(configuration.video.stepDown == 0.15)
    #expect(configuration.audio.maximum == BitRate(bitsPerSecond: 64_000))
    #expect(configuration.audio.minimum == BitRate(bitsPerSecond: 6_000))
  }

  @Test(
    .feature(
      "S0.32", "S0.33", "S0.34", "S0.35", "S0.36", "S0.37", "S0.38", "S0.39", "S0.40", "S0.41", "S0.42", "S0.43",
      "S0.47")) func `the defaults are the customary ones`()
  {
    let configuration = CallConfiguration()
    #expect(configuration.connectionTimeout == .seconds(30))
    #expect(configuration.ringTimeout == .seconds(45))
    let (video, audio) = (configuration.video, configuration.audio)
    #expect(video == .defaultForVideo && audio == .defaultForAudio)
    #expect(video.minimum == BitRate(bitsPerSecond: 100_000) && audio.minimum == BitRate(bitsPerSecond: 6_000))
    #expect(video.maximum == BitRate(bitsPerSecond: 6_000_000) && audio.maximum == BitRate(bitsPerSecond: 96_000))
    #expect(video.start == BitRate(bitsPerSecond: 1_000_000) && audio.start == BitRate(bitsPerSecond: 16_000))
    for limits in [video, audio] {
      #expect(limits.stepUp == 0.15 && limits.stepDown == 0.15 && limits.criticalStepDown == 0.25)
      #expect(limits.criticalLoss == 0.10 && limits.highLoss == 0.05 && limits.lowLoss == 0.01)
    }
  }

  @Test func `what a file gets wrong is said with its name and key`() {
    let error = #expect(throws: PresetError.self) {
      try CallConfiguration(json: #"{"connectionTimeout": 0}"#.utf8, file: "call.json")
    }
    #expect(error?.sentence.contains("call.json") == true && error?.sentence.contains("connectionTimeout") == true)
  }
}
