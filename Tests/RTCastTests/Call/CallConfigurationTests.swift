import FeatureKit
import RTCEngine
import RTCPrimitives
import RTCast
import Testing

@Suite struct CallConfigurationTests {
  private func configuration(_ json: String) throws -> CallConfiguration {
    try CallConfiguration(json: json.utf8, file: "call.json")
  }

  @Test(.feature("S0.28", "S0.29", "S0.30", "S0.31", "S0.32"))
  func `servers and the time-out come from JSON`() throws {
    let configuration = try configuration(
      """
      {
        "iceServers": [
          { "urlStrings": ["stun:stun.example:3478"] },
          { "urlStrings": ["turn:turn.example:3478"], "username": "u", "credential": "c" }
        ],
        "connectionTimeout": 12, "ringTimeout": 7
      }
      """)
    #expect(
      configuration.iceServers == [
        ICEServer([ICEServerURL(scheme: .stun, host: "stun.example")]),
        ICEServer([ICEServerURL(scheme: .turn, host: "turn.example")], username: "u", credential: "c"),
      ])
    #expect(configuration.connectionTimeout == .seconds(12))
    #expect(configuration.ringTimeout == .seconds(7))
    #expect(configuration.video == .defaultForVideo && configuration.audio == .defaultForAudio)
  }

  @Test(.feature("S0.28", "S0.33", "S0.34", "S0.35", "S0.36", "S0.37"))
  func `the bounds of video and of sound come from JSON, each for itself`() throws {
    let configuration = try configuration(
      """
      {
        "video": { "minBitrate": 200000, "maxBitrate": 3000000, "startBitrate": 900000 },
        "audio": { "minBitrate": 8000, "maxBitrate": 64000, "startBitrate": 24000 }
      }
      """)
    var (video, audio) = (BitrateLimits.defaultForVideo, BitrateLimits.defaultForAudio)
    (video.minimum, video.maximum) = (.kilobitsPerSecond(200), .megabitsPerSecond(3))
    video.start = .kilobitsPerSecond(900)
    (audio.minimum, audio.maximum) = (.kilobitsPerSecond(8), .kilobitsPerSecond(64))
    audio.start = .kilobitsPerSecond(24)
    #expect(configuration.video == video)
    #expect(configuration.audio == audio)
  }

  @Test(.feature("S0.38", "S0.39", "S0.40", "S0.41", "S0.42", "S0.43"))
  func `steps and thresholds come from JSON`() throws {
    let configuration = try configuration(
      """
      {
        "video": {
          "bitrateStepUp": 0.1, "bitrateStepDown": 0.2, "bitrateStepCriticalDown": 0.5,
          "criticalPacketLossThreshold": 0.3, "highPacketLossThreshold": 0.08, "lowPacketLossThreshold": 0.02
        }
      }
      """)
    var limits = BitrateLimits.defaultForVideo
    (limits.stepUp, limits.stepDown, limits.criticalStepDown) = (0.1, 0.2, 0.5)
    (limits.criticalLoss, limits.highLoss, limits.lowLoss) = (0.3, 0.08, 0.02)
    #expect(configuration.video == limits)
  }

  @Test(.feature("S0.32", "S0.35", "S0.36", "S0.37", "S0.47")) func `the default rates are the customary ones`() {
    let configuration = CallConfiguration()
    #expect(configuration.connectionTimeout == .seconds(30))
    #expect(configuration.ringTimeout == .seconds(45))
    let (video, audio) = (configuration.video, configuration.audio)
    #expect(video == .defaultForVideo && audio == .defaultForAudio)
    #expect(video.minimum == BitRate(bitsPerSecond: 100_000) && audio.minimum == BitRate(bitsPerSecond: 6_000))
    #expect(video.maximum == BitRate(bitsPerSecond: 6_000_000) && audio.maximum == BitRate(bitsPerSecond: 96_000))
    #expect(video.start == BitRate(bitsPerSecond: 1_000_000) && audio.start == BitRate(bitsPerSecond: 16_000))
  }

  @Test(.feature("S0.38", "S0.39", "S0.40", "S0.41", "S0.42", "S0.43"))
  func `the default steps and thresholds are the customary ones`() {
    for limits in [BitrateLimits.defaultForVideo, .defaultForAudio] {
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
