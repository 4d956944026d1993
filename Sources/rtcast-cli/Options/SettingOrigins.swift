import Glibc
package import RTCSignaling
import RTCast

/// Each setting of presets and configuration files, with its value and where that comes from.
package struct SettingOrigins {
  package struct Setting: Hashable, Sendable {
    /// As in the file; `video.maxBitrate` for one in an object.
    package let key: String
    /// For people; secrets are left out.
    package let value: String
    /// A preset, a variable, a file, or `default`.
    package let origin: String
    /// The line in the origin, from 1; nil where it has none.
    package let line: Int?
  }

  /// Settings of one origin.
  private struct Layer {
    let origin: String
    let members: [String: JSONTree]

    init(origin: String, tree: JSONTree) {
      self.origin = origin
      guard case .object(let members) = tree.value else {
        self.members = [:]
        return
      }
      self.members = Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
    }
  }

  /// The strongest first.
  private var layers: [Layer] = []
  /// Variables, which count before configuration files and after a preset.
  private let environment: [String: String]
  private let hasPreset: Bool

  /// - Parameters:
  ///   - preset: the preset's name or path, and its text.
  ///   - environment: the variables that are settings, by the key that they set.
  package init(
    _ files: ConfigurationFiles, preset: (name: String, tree: JSONTree)? = nil, environment: [String: String]
  ) {
    hasPreset = preset != nil
    if let preset { layers.append(Layer(origin: "preset \(preset.name)", tree: preset.tree)) }
    layers += files.files.map { Layer(origin: $0.path, tree: $0.tree) }
    self.environment = environment
  }

  /// The variables that are set, by the key that they set.
  package static var variables: [String: String] {
    var found: [String: String] = [:]
    for (key, name) in [
      ("token", "RTCAST_TOKEN"), ("iceServers", "RTCAST_ICE_SERVERS"), (ConfiguredOption.stateFolder, "XDG_STATE_HOME"),
    ] {
      if let value = getenv(name), value.pointee != 0 { found[key] = name }
    }
    return found
  }

  /// In the order of `presets/README.md`, first the keys of presets.
  package var settings: [Setting] {
    Self.defaults.flatMap { key, value in setting(key, otherwise: value) }
  }

  private func setting(_ key: String, otherwise standard: String) -> [Setting] {
    let stated = layers.first { $0.members[key] != nil }
    if let variable = environment[key], !(hasPreset && layers[0].members[key] != nil) {
      return [Setting(key: key, value: "set", origin: variable, line: nil)]
    }
    guard let stated, let tree = stated.members[key] else {
      return [Setting(key: key, value: standard, origin: "default", line: nil)]
    }
    guard case .object(let members) = tree.value else {
      return [Setting(key: key, value: Self.shown(tree, of: key), origin: stated.origin, line: tree.line)]
    }
    return members.map { name, value in
      Setting(key: "\(key).\(name)", value: Self.shown(value, of: name), origin: stated.origin, line: value.line)
    }
  }

  private static let secrets = ["token", "credential", "username"]

  /// A value as it stands in the file, without secrets.
  private static func shown(_ tree: JSONTree, of key: String) -> String {
    if secrets.contains(key) { return "set" }
    if case .string(let text) = tree.value { return text }
    return json(tree).text
  }

  private static func json(_ tree: JSONTree) -> JSONValue {
    switch tree.value {
    case .null: .null
    case .bool(let value): .bool(value)
    case .number(let value): .number(value)
    case .string(let text): .string(text)
    case .array(let items): .array(items.map(json))
    case .object(let members):
      .object(members.map { ($0.name, secrets.contains($0.name) ? .string("set") : json($0.value)) })
    }
  }

  /// The defaults, as in `presets/README.md`.
  package static let defaults: [(key: String, value: String)] = presets + ConfiguredOption.defaults

  private static let presets: [(key: String, value: String)] = [
    ("fps", "by source"), ("contentHint", "by source"), ("codec", "VP8, or VP9 with chroma 444"), ("chroma", "420"),
    ("size", "as they come"), ("scalabilityMode", "L1T1"), ("audioSource", "source"), ("token", "one that is made"),
    ("iceServers", "none"), ("connectionTimeout", "30"), ("ringTimeout", "45"), ("rateControl", "gcc"),
    ("video", "100000 to 6000000 bit/s, 1000000 at first"), ("audio", "6000 to 96000 bit/s, 16000 at first"),
  ]
}
