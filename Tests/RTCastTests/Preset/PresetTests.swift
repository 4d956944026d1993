import FeatureKit
import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCast
import Testing

private func preset(_ json: String) throws(PresetError) -> Preset { try Preset(json: json.utf8, file: "mine.json") }

@Suite struct PresetTests {
  @Test func `a preset may leave the codec to viewers, content and machine`() throws {
    let preset = try Preset(json: Array("{\"codec\": \"Auto\"}".utf8), file: "a.json")
    #expect(preset.choosesCodec && preset.codec == nil)
    #expect(try !Preset(json: Array("{\"codec\": \"AV1\"}".utf8), file: "a.json").choosesCodec)
  }

  @Test func `every key is read`() throws {
    let preset = try preset(
      """
      {
        "title": "Mine", "description": "All keys.", "fps": 12.5, "contentHint": "Detail", "codec": "vp8",
        "chroma": "444",
        "size": "1280x720", "audioSource": "desktop", "connectionTimeout": 30, "ringTimeout": 20,
        "iceServers": [
          { "urlStrings": ["stun:stun.example:3478"] },
          { "urlStrings": ["turn:turn.example:3478?transport=tcp", "turns:t.example"], "username": "u", "credential": "c" }
        ],
        "video": {
          "minBitrate": 200000, "maxBitrate": 3000000, "startBitrate": 900000, "bitrateStepUp": 0.1, "bitrateStepDown": 0.2,
          "bitrateStepCriticalDown": 0.5, "criticalPacketLossThreshold": 0.2, "highPacketLossThreshold": 0.1,
          "lowPacketLossThreshold": 0.02
        },
        "audio": { "maxBitrate": 64000 }
      }
      """)
    #expect(preset.title == "Mine")
    #expect(preset.frameRate == 12.5)
    #expect(preset.contentHint == .detail)
    #expect(preset.codec == .vp8 && preset.chroma == .full)
    #expect(preset.size == PixelSize(width: 1280, height: 720))
    #expect(preset.audioSource == "desktop")
    #expect(preset.connectionTimeout == .seconds(30) && preset.ringTimeout == .seconds(20))
    #expect(preset.iceServers.count == 2)
    #expect(
      try preset.iceServers.last
        == ICEServer(
          parsing: ["turn:turn.example:3478?transport=tcp", "turns:t.example"], username: "u", credential: "c"))
    var limits = BitrateLimits()
    limits.minimum = .kilobitsPerSecond(200)
    limits.maximum = .megabitsPerSecond(3)
    limits.start = .kilobitsPerSecond(900)
    limits.stepUp = 0.1
    limits.stepDown = 0.2
    limits.criticalStepDown = 0.5
    limits.criticalLoss = 0.2
    limits.highLoss = 0.1
    limits.lowLoss = 0.02
    #expect(preset.video == limits)
    #expect(preset.audio?.maximum == .kilobitsPerSecond(64))
    #expect(preset.audio?.minimum == .kilobitsPerSecond(6))
  }

  @Test func `an empty preset says nothing`() throws {
    #expect(try preset("{}") == Preset())
  }

  @Test func `the defaults are the customary ones`() throws {
    #expect(try preset("{\"video\": {}}").video == .defaultForVideo)
    let audio = try preset("{\"audio\": {}}").audio
    #expect(audio?.start == .kilobitsPerSecond(16))
    #expect(audio?.maximum == .kilobitsPerSecond(96))
    #expect(BitrateLimits.defaultForVideo.maximum == .megabitsPerSecond(6))
  }

  @Test func `rates that are not said make room for those that are`() throws {
    let low = try preset("{\"video\": {\"maxBitrate\": 50000}}").video
    #expect(low?.minimum == .kilobitsPerSecond(50) && low?.start == .kilobitsPerSecond(50))
    let high = try preset("{\"video\": {\"startBitrate\": 20000000}}").video
    #expect(high?.maximum == .megabitsPerSecond(20) && high?.start == .megabitsPerSecond(20))
  }

  @Test(
    .feature("S1.18"),
    arguments: [
      ("{\"fpss\": 5}", "line 1: fpss is unknown; is fps meant? The keys are title, description, fps,"),
      (
        "{\n\n\"video\": {\n\"maxBitrat\": 5}}",
        "line 4: video.maxBitrat is unknown; is maxBitrate meant? The keys of video are minBitrate,"
      ),
      (
        "{\"iceServers\": [{\"uri\": []}]}",
        "iceServers[0].uri is unknown; is url meant? The keys of iceServers[0] are urls, urlStrings,"
      ),
      ("{\"fps\": 100000}", "fps must be a number from 0.1 to 240 frames a second, not 100000"),
      ("{\"fps\": \"many\"}", "fps must be a number from 0.1 to 240 frames a second, not a text"),
      ("{\"fps\": null}", "fps must be a number from 0.1 to 240 frames a second, not null"),
      ("{\"contentHint\": \"sparkle\"}", "contentHint must be one of motion, detail, text, not \"sparkle\""),
      ("{\"chroma\": \"422\"}", "chroma must be one of 420, 444, not \"422\""),
      ("{\"codec\": \"XYZ\"}", "codec must be one of VP8, VP9, H264, AV1, auto, not \"XYZ\""),
      ("{\"size\": \"big\"}", "size must be \"WIDTHxHEIGHT\", each from 16 to 8192, not \"big\""),
      ("{\"size\": [1, 2]}", "size must be a text in quotation marks, not a list"),
      ("{\"title\": \"a\\nb\"}", "title must be a text of 1 to 200 characters"),
      ("{\"connectionTimeout\": 0.5}", "connectionTimeout must be a number from 1 to 3600 seconds, not 0.5"),
      ("{\"connectionTimeout\": 1.5}", "connectionTimeout must be a whole number of seconds, not 1.5"),
      ("{\"video\": 5}", "video must be an object { … }, not a number"),
      ("{\"video\": {\"minBitrate\": 1}}", "video.minBitrate must be a number from 10000 to 1000000000 bit/s, not 1"),
      (
        "{\"audio\": {\"maxBitrate\": 900000}}",
        "audio.maxBitrate must be a number from 6000 to 510000 bit/s, not 900000"
      ),
      (
        "{\"video\": {\"minBitrate\": 500000, \"maxBitrate\": 400000}}",
        "video.minBitrate must not lie above maxBitrate"
      ),
      (
        "{\"video\": {\"maxBitrate\": 400000, \"startBitrate\": 500000}}",
        "video.startBitrate must lie from minBitrate to maxBitrate"
      ),
      ("{\"video\": {\"bitrateStepUp\": 1.5}}", "video.bitrateStepUp must be a number from 0 to 1, not 1.5"),
      ("{\"video\": {\"lowPacketLossThreshold\": 0.06}}", "video.lowPacketLossThreshold must not lie above"),
      ("{\"video\": {\"highPacketLossThreshold\": 0.2}}", "video.highPacketLossThreshold must not lie above"),
      ("{\"iceServers\": {}}", "iceServers must be a list [ … ], not an object"),
      ("{\"iceServers\": [{}]}", "iceServers[0].urls must be there"),
      (
        "{\"iceServers\": [{\"urlStrings\": [\"http://x\"]}]}",
        "iceServers[0].urlStrings[0] is refused: \"http://x\" is no"
      ),
      ("{\"iceServers\": [{\"urls\": \"trun:x\"}]}", "iceServers[0].urls is refused: "),
      ("{\"iceServers\": [{\"urls\": \"trun:x\"}]}", "Did you mean turn:x?"),
      ("{\"iceServers\": [{\"url\": \"stun:x\", \"urls\": []}]}", "iceServers[0].url says the same as urls; leave"),
      ("{\"iceServers\": [{\"urlStrings\": [\"turn:x\"]}]}", "iceServers[0].username must be there for a TURN server"),
      ("[1, 2]", "the whole must be an object { … }, not a list"),
    ]) func `what is wrong is named: file, line, key and what is allowed`(json: String, words: String)
  {
    let error = #expect(throws: PresetError.self) { try preset(json) }
    #expect(error?.kind == .malformed)
    #expect(error?.sentence.hasPrefix("In the preset mine.json, line ") == true)
    #expect(error?.sentence.contains(words) == true, "\(error?.sentence ?? "")")
  }

  @Test(
    .feature("S0.29"),
    arguments: [
      #""urlStrings": ["turn:t.example", "turns:t.example"]"#, #""urls": ["turn:t.example", "turns:t.example:5349"]"#,
      #""url": ["TURN:t.example:3478", "turns:t.example?transport=tcp"]"#,
    ]) func `addresses of a server are read under each of their names`(urls: String) throws
  {
    let preset = try preset(#"{"iceServers": [{\#(urls), "username": "u", "credential": "c"}]}"#)
    let both = [ICEServerURL(scheme: .turn, host: "t.example"), ICEServerURL(scheme: .turns, host: "t.example")]
    #expect(preset.iceServers == [ICEServer(both, username: "u", credential: "c")])
  }

  @Test(.feature("S0.29"), arguments: ["url", "urls", "urlStrings"]) func `one address may stand for itself`(
    key: String
  ) throws {
    let preset = try preset(#"{"iceServers": [{"\#(key)": "stun:s.example:19302"}]}"#)
    #expect(preset.iceServers == [ICEServer([ICEServerURL(scheme: .stun, host: "s.example", port: 19_302)])])
  }

  @Test func `what is no JSON says where`() {
    let error = #expect(throws: PresetError.self) { try preset("{\n  fps: 5 }") }
    #expect(error?.sentence == "The preset mine.json is not JSON: a key in quotation marks is missing (line 2).")
  }

  @Test func `a key full of control characters is shown harmlessly`() {
    let error = #expect(throws: PresetError.self) {
      try preset("{\"\\u001b[31m\(String(repeating: "x", count: 5000))\": 1}")
    }
    #expect(error.map { !$0.sentence.contains("\u{1B}") && $0.sentence.utf8.count < 500 } == true)
  }
}
