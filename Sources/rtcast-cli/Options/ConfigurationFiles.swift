package import ArgumentParser
import Glibc
package import RTCPrimitives
import RTCSignaling
package import RTCast

/// The configuration files of this user and this machine, in the format of presets, with the keys of options besides. They count where neither the command line, nor
/// the environment, nor a preset says anything.
package struct ConfigurationFiles: Sendable {
  /// A file that is there.
  struct File: Sendable {
    let path: String
    let preset: Preset
    /// The text, for its lines.
    let tree: JSONTree
    /// The keys that presets do not have.
    let options: ConfiguredOptions
  }

  /// The user's first.
  let files: [File]

  /// Reads the files that are there. The first counts before the second.
  package init(paths: [String] = Self.paths) throws(PresetError) {
    var files: [File] = []
    for path in paths {
      let called = "configuration \(path)"
      guard let json = try Preset.bytes(of: path, called: called) else { continue }
      let preset = try MediaOptions.checked(
        Preset(json: json, called: called, besides: ConfiguredOption.keys), of: path, called: called)
      guard let tree = try? JSONTree(parsing: json) else { continue }  // a preset is one
      let options = try ConfiguredOptions(tree, path: path, called: called)
      files.append(File(path: path, preset: preset, tree: tree, options: options))
    }
    self.files = files
  }

  private init(files: [File]) { self.files = files }

  /// `$XDG_CONFIG_HOME/rtcast/config.json`, else `~/.config/rtcast/config.json`, and `/etc/rtcast/config.json`.
  package static var paths: [String] {
    func variable(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    let own = variable("XDG_CONFIG_HOME") ?? variable("HOME").map { $0 + "/.config" }
    return [own, "/etc"].compactMap { $0.map { "\($0)/rtcast/config.json" } }
  }

  // MARK: - What they say

  /// The settings of a preset, with those of the files where it says nothing; nil: there is neither. A token and ICE servers of the
  /// files are apart, since the environment counts before them.
  package func filling(_ preset: Preset?) -> Preset? {
    guard !files.isEmpty else { return preset }
    return files.reduce(preset ?? Preset()) { $0.filled(from: $1.preset) }
  }

  package var token: String? { files.lazy.compactMap(\.preset.token).first }

  package var iceServers: [ICEServer] { files.lazy.map(\.preset.iceServers).first { !$0.isEmpty } ?? [] }

  // MARK: - Of this process

  /// Read once, with the command line: a confined process may not read them.
  private static let found: Result<ConfigurationFiles, PresetError> = Result {
    () throws(PresetError) in try ConfigurationFiles()
  }

  /// None where one of them is wrong, which `check` tells.
  static var current: ConfigurationFiles { (try? found.get()) ?? ConfigurationFiles(files: []) }

  /// Refuses files that are wrong. Every command that takes settings of them calls this.
  package static func check() throws(ValidationError) {
    if case .failure(let error) = found { throw ValidationError(error.sentence) }
  }
}
