import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCSignaling

/// Reads a preset from JSON; errors name the key and the problem.
struct PresetReader {
  /// The name of the file in messages, such as `preset mine.json`.
  let file: String
  /// Keys that are allowed and not read.
  var besides: [String] = []

  func read(_ tree: JSONTree) throws(PresetError) -> Preset {
    let top = try PresetObject(tree, path: "", file: file, keys: Self.keys + besides)
    var preset = Preset()
    preset.title = try top.text("title", upTo: 200)
    preset.description = try top.text("description", upTo: 2_000)
    preset.frameRate = try top.number("fps", 0.1...240, unit: "frames a second")
    preset.contentHint = try top.choice("contentHint", ContentHint.allCases) { $0.rawValue }
    let codec = try top.choice("codec", VideoCodec.allCases.map(\.rawValue) + [Self.anyCodec]) { $0 }
    preset.choosesCodec = codec == Self.anyCodec
    preset.codec = codec.flatMap { VideoCodec(rawValue: $0) }
    preset.chroma = try top.choice("chroma", ChromaSampling.allCases) { $0.name }
    preset.scalabilityMode = try top.choice("scalabilityMode", ScalabilityMode.allCases) { $0.rawValue }
    preset.size = try size(top)
    preset.audioSource = try top.text("audioSource", upTo: 200)
    preset.token = try top.text("token", upTo: 1_024)
    preset.iceServers = try top.objects("iceServers", upTo: 20, keys: Self.urlKeys + ["username", "credential"])
      .map { server throws(PresetError) in try iceServer(server) }
    preset.connectionTimeout = try top.whole("connectionTimeout", 1...3_600, unit: "seconds").map { .seconds($0) }
    preset.ringTimeout = try top.whole("ringTimeout", 1...3_600, unit: "seconds").map { .seconds($0) }
    preset.rateControl = try top.choice("rateControl", RateControlAlgorithm.allCases) { $0.rawValue }
    preset.video = try top.object("video", keys: BitrateKey.names).map { limits throws(PresetError) in
      try bitrates(limits, over: .defaultForVideo, range: 10_000...1_000_000_000)
    }
    preset.audio = try top.object("audio", keys: BitrateKey.names).map { limits throws(PresetError) in
      try bitrates(limits, over: .defaultForAudio, range: 6_000...510_000)
    }
    return preset
  }

  private static let anyCodec = "auto"
  static let keys = [
    "title", "description", "fps", "contentHint", "codec", "chroma", "scalabilityMode", "size", "audioSource", "token",
    "iceServers", "connectionTimeout", "ringTimeout", "rateControl", "video", "audio",
  ]

  /// The nine keys of `video` and `audio`.
  private enum BitrateKey {
    static let names = [
      "minBitrate", "maxBitrate", "startBitrate", "bitrateStepUp", "bitrateStepDown", "bitrateStepCriticalDown",
      "criticalPacketLossThreshold", "highPacketLossThreshold", "lowPacketLossThreshold",
    ]
  }

  private func size(_ top: PresetObject) throws(PresetError) -> PixelSize? {
    guard let text = try top.text("size", upTo: 20) else { return nil }
    let sides = text.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
    guard sides.count == 2, let width = sides[0], let height = sides[1], (16...8_192).contains(width),
      (16...8_192).contains(height)
    else { throw top.refusal("size", "must be \"WIDTHxHEIGHT\", each from 16 to 8192, not \"\(text)\"") }
    return PixelSize(width: width, height: height)
  }

  /// The key of the W3C, of Apple's WebRTC, and of early W3C drafts.
  private static let urlKeys = ["urls", "urlStrings", "url"]

  private func iceServer(_ server: PresetObject) throws(PresetError) -> ICEServer {
    let keys = Self.urlKeys.filter { server.has($0) }
    let key = keys.first ?? "urls"
    guard keys.count <= 1 else { throw server.refusal(keys[1], "says the same as \(key); leave one of them out") }
    let urls = try server.texts(key, upTo: 20)
    guard !urls.isEmpty else {
      throw server.refusal(key, "must be there and name one server at least, such as \"stun:host:3478\"")
    }
    var parsed: [ICEServerURL] = []
    for (index, url) in urls.enumerated() {
      do throws(ICEServerError) { parsed.append(try ICEServerURL(parsing: url)) } catch {
        throw server.refusal(server.isText(key) ? key : "\(key)[\(index)]", "is refused: \(error)")
      }
    }
    let (username, credential) = (try server.text("username", upTo: 512), try server.text("credential", upTo: 512))
    if username == nil || credential == nil, parsed.contains(where: \.scheme.isRelay) {
      throw server.refusal(username == nil ? "username" : "credential", "must be there for a TURN server")
    }
    return ICEServer(parsed, username: username, credential: credential)
  }

  private func bitrates(
    _ object: PresetObject, over defaults: BitrateLimits, range: ClosedRange<Int64>
  ) throws(PresetError) -> BitrateLimits {
    var limits = defaults
    let minimum = try object.whole("minBitrate", range, unit: "bit/s").map { BitRate(bitsPerSecond: $0) }
    let maximum = try object.whole("maxBitrate", range, unit: "bit/s").map { BitRate(bitsPerSecond: $0) }
    let start = try object.whole("startBitrate", range, unit: "bit/s").map { BitRate(bitsPerSecond: $0) }
    // Values of the preset must be consistent; defaults adapt to them.
    limits.minimum = minimum ?? min(limits.minimum, start ?? limits.minimum, maximum ?? limits.minimum)
    limits.maximum = maximum ?? max(limits.maximum, start ?? limits.maximum, limits.minimum)
    if limits.minimum > limits.maximum { throw object.refusal("minBitrate", "must not lie above maxBitrate") }
    limits.start = start ?? max(limits.minimum, min(limits.maximum, limits.start))
    guard limits.start >= limits.minimum, limits.start <= limits.maximum else {
      throw object.refusal("startBitrate", "must lie from minBitrate to maxBitrate")
    }
    limits.stepUp = try object.fraction("bitrateStepUp") ?? limits.stepUp
    limits.stepDown = try object.fraction("bitrateStepDown") ?? limits.stepDown
    limits.criticalStepDown = try object.fraction("bitrateStepCriticalDown") ?? limits.criticalStepDown
    limits.criticalLoss = try object.fraction("criticalPacketLossThreshold") ?? limits.criticalLoss
    limits.highLoss = try object.fraction("highPacketLossThreshold") ?? limits.highLoss
    limits.lowLoss = try object.fraction("lowPacketLossThreshold") ?? limits.lowLoss
    guard limits.lowLoss <= limits.highLoss else {
      throw object.refusal("lowPacketLossThreshold", "must not lie above highPacketLossThreshold (\(limits.highLoss))")
    }
    guard limits.highLoss <= limits.criticalLoss else {
      throw object.refusal(
        "highPacketLossThreshold", "must not lie above criticalPacketLossThreshold (\(limits.criticalLoss))")
    }
    return limits
  }
}
