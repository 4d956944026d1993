import Foundation
import RTCSignaling
import RTCast
import Testing
import rtcast_cli

@Suite struct ConfigurationFilesTests {
  /// Files with these texts, the first before the second.
  private func files(_ texts: String...) throws -> ConfigurationFiles {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var paths: [String] = []
    for (index, text) in texts.enumerated() {
      let path = folder.appendingPathComponent("\(index).json").path
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      paths.append(path)
    }
    return try ConfigurationFiles(paths: paths + ["/no/such/file.json"])
  }

  @Test func `a preset counts before the files, and the first file before the second`() throws {
    let files = try files(
      #"{"fps": 7, "codec": "auto", "video": {"maxBitrate": 3000000}}"#,
      #"{"fps": 8, "size": "640x360", "codec": "VP9", "video": {"minBitrate": 50000}}"#)
    let preset = try #require(files.filling(nil))
    #expect(preset.frameRate == 7 && preset.size?.width == 640)
    #expect(preset.codec == nil && preset.choosesCodec, "auto is a codec too")
    #expect(preset.video?.minimum == .kilobitsPerSecond(100), "a whole object counts")
    let named = try Preset(json: #"{"fps": 30, "codec": "VP8"}"#.utf8, file: "a.json")
    let filled = try #require(files.filling(named))
    #expect(filled.frameRate == 30 && filled.codec == .vp8 && !filled.choosesCodec && filled.size?.width == 640)
    #expect(try self.files().filling(nil) == nil)
  }

  @Test func `the token and the servers are apart, since the environment counts before them`() throws {
    let files = try files(#"{"fps": 7}"#, #"{"token": "secret-secret", "iceServers": [{"urls": "stun:a.example"}]}"#)
    #expect(files.token == "secret-secret" && files.iceServers.count == 1)
    let preset = try #require(files.filling(nil))
    #expect(preset.token == nil && preset.iceServers.isEmpty)
  }

  @Test(arguments: [
    ("{\n\"fsp\": 5}", "line 2: fsp is unknown; is fps meant? The keys are title"), ("[]", "line 1: the whole must be"),
    ("{\"video\": {\"maxBitrat\": 1}}", "video.maxBitrat is unknown; is maxBitrate meant? The keys of video are"),
    ("{\"xylophone\": 5}", "xylophone is unknown; the keys are"), ("{\"audioSource\": \"\"}", "1 to 200 characters"),
    ("{", "is not JSON"),
  ]) func `a file that is wrong is named, with the line and the nearest key`(text: String, words: String) throws {
    let error = #expect(throws: PresetError.self) { try files(text) }
    #expect(
      error?.sentence.contains("onfiguration /") == true && error?.sentence.contains(words) == true,
      "\(error?.sentence ?? "")")
  }

  @Test func `each setting has a value and an origin, and secrets are not shown`() throws {
    let files = try files("{\n\"fps\": 7,\n\"token\": \"secret-secret\",\n\"video\": {\"maxBitrate\": 3000000}}")
    let settings = SettingOrigins(files, environment: ["iceServers": "RTCAST_ICE_SERVERS"]).settings
    func of(_ key: String) -> SettingOrigins.Setting? { settings.first { $0.key == key } }
    #expect(of("fps")?.value == "7" && of("fps")?.line == 2 && of("fps")?.origin.hasSuffix("0.json") == true)
    #expect(of("token")?.value == "set")
    #expect(of("video.maxBitrate")?.value == "3000000" && of("video.maxBitrate")?.line == 4)
    #expect(of("iceServers")?.origin == "RTCAST_ICE_SERVERS")
    #expect(of("codec")?.origin == "default")
    let lan = try JSONTree(parsing: Preset.text(of: "lan").json)
    let named = SettingOrigins(files, preset: ("lan", lan), environment: ["token": "RTCAST_TOKEN"]).settings
    #expect(named.first { $0.key == "fps" }?.origin == "preset lan")
    #expect(named.first { $0.key == "token" }?.origin == "RTCAST_TOKEN")
  }

  @Test func `every key has a default`() {
    let keys = Set(Preset.keys).subtracting(["title", "description"]).union(ConfiguredOption.keys)
    #expect(Set(SettingOrigins.defaults.map(\.key)) == keys)
  }

  /// The words that the files add to a command line.
  private func added(
    _ files: ConfigurationFiles, to arguments: String..., hasSockets: Bool = false, variables: [String: String] = [:]
  ) -> [String] {
    files.options(for: arguments, hasSockets: hasSockets) { variables[$0] }.flatMap(\.words)
  }

  @Test func `options of the files are for the commands that have them, and the command line counts before`() throws {
    let files = try files(
      #"{"listen": "0.0.0.0:8090", "tls": true, "wait": true, "hostName": ["a.example", "b.example"], "fps": 5}"#,
      #"{"listen": "0.0.0.0:1", "tokens": "/etc/names", "tokenFile": "/etc/token", "tls": false}"#)
    let viewers = [
      "--listen=0.0.0.0:8090", "--tls", "--host-name=a.example", "--host-name=b.example", "--token-file=/etc/token",
    ]
    #expect(Set(added(files, to: "screen")) == Set(viewers + ["--wait"]))
    #expect(Set(added(files, to: "test", "--fps", "5")) == Set(viewers))
    #expect(Set(added(files, to: "serve")) == Set(viewers + ["--tokens=/etc/names"]))
    #expect(added(files, to: "watch", "http://a.example/").isEmpty && added(files, to: "call", "alice").isEmpty)
    #expect(added(files, to: "screen", "--to", "alice") == ["--wait"], "nobody connects here")
    #expect(!added(files, to: "test", "--listen", "127.0.0.1:1").contains { $0.hasPrefix("--listen") })
    #expect(!added(files, to: "test", "--listen=127.0.0.1:1").contains { $0.hasPrefix("--listen") })
    #expect(!added(files, to: "test", "--tls-cert", "a", "--tls-key", "b").contains("--tls"))
    #expect(!added(files, to: "serve", "--open").contains { $0.hasPrefix("--token") })
    #expect(!added(files, to: "serve", hasSockets: true).contains { $0.hasPrefix("--listen") })
    let variables = ["RTCAST_TOKEN": "secret"]
    #expect(!added(files, to: "test", variables: variables).contains { $0.hasPrefix("--token-file") })
    #expect(added(files, to: "screen", "--", "--listen=x").contains("--listen=0.0.0.0:8090"), "that is no option")
  }

  @Test(arguments: [
    ("{\n\"lisen\": \"a\"}", "line 2: lisen is unknown; is listen meant?"),
    ("{\"listen\": 8080}", "line 1: listen must be a text in quotation marks, not a number"),
    ("{\"tls\": \"yes\"}", "tls must be true or false, not a text"),
    ("{\"hostName\": [\"a\", 5]}", "hostName must be a list of texts"),
    ("{\"stateFolder\": \"here\"}", "stateFolder must be the path of a folder that begins with /"),
  ]) func `an option of the wrong kind is named with its line`(text: String, words: String) throws {
    let error = #expect(throws: PresetError.self) { try files(text) }
    #expect(error?.sentence.contains(words) == true, "\(error?.sentence ?? "")")
  }

  @Test func `presets have no options`() {
    #expect(throws: PresetError.self) { try Preset(json: #"{"listen": "127.0.0.1:1"}"#.utf8, file: "a.json") }
  }
}
