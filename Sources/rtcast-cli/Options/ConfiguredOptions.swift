import RTCSignaling
import RTCast

/// An option of the command line that configuration files may state, so that services need no long lists of options.
package struct ConfiguredOption: Sendable {
  enum Kind: Sendable {
    case text
    /// A list of texts, or one text.
    case texts
    case flag
  }

  /// The name in the file.
  let key: String
  /// The name on the command line.
  let option: String
  let kind: Kind
  /// The commands that take it.
  let commands: [String]
  /// It is for viewers that connect here, and has no effect with `--to`.
  var isForViewers = true
  /// Options of the command line that exclude it.
  var yieldsTo: [String] = []
  /// The variable that counts before the file.
  var variable: String?
  /// The default in words.
  let standard: String

  private static let casts = ["screen", "file", "camera", "pipe", "plugin", "test"]
  private static let servers = casts + ["serve"]

  static let all = [
    ConfiguredOption(
      key: "listen", option: "--listen", kind: .text, commands: servers,
      standard: "127.0.0.1:0; the hub: every address, port $PORT or 8080"),
    ConfiguredOption(
      key: "tls", option: "--tls", kind: .flag, commands: servers, yieldsTo: ["--tls-cert", "--tls-key"],
      standard: "false"),
    ConfiguredOption(
      key: "tlsCert", option: "--tls-cert", kind: .text, commands: servers, yieldsTo: ["--tls"], standard: "none"),
    ConfiguredOption(
      key: "tlsKey", option: "--tls-key", kind: .text, commands: servers, yieldsTo: ["--tls"], standard: "none"),
    ConfiguredOption(key: "hostName", option: "--host-name", kind: .texts, commands: servers, standard: "none"),
    ConfiguredOption(
      key: "frameAncestors", option: "--frame-ancestors", kind: .texts, commands: servers, standard: "none"),
    ConfiguredOption(key: "trustedProxy", option: "--trusted-proxy", kind: .texts, commands: servers, standard: "none"),
    ConfiguredOption(
      key: "allowOrigin", option: "--allow-origin", kind: .texts, commands: ["serve"], standard: "none"),
    ConfiguredOption(
      key: "tokenFile", option: "--token-file", kind: .text, commands: servers, yieldsTo: ["--token", "--open"],
      variable: "RTCAST_TOKEN", standard: "none"),
    ConfiguredOption(
      key: "tokens", option: "--tokens", kind: .text, commands: ["serve"], yieldsTo: ["--open"], standard: "none"),
    ConfiguredOption(key: "audit", option: "--audit", kind: .text, commands: servers, standard: "none"),
    ConfiguredOption(
      key: "control", option: "--control", kind: .text, commands: servers + ["call"], isForViewers: false,
      standard: "none"),
    ConfiguredOption(
      key: "record", option: "--record", kind: .text, commands: casts, isForViewers: false, standard: "none"),
    ConfiguredOption(
      key: "wait", option: "--wait", kind: .flag, commands: ["screen"], isForViewers: false, standard: "false"),
  ]

  /// The key of the folder for files that are kept, which is no option.
  static let stateFolder = "stateFolder"

  /// The keys of configuration files that presets do not have.
  package static let keys = all.map(\.key) + [stateFolder]

  /// Each of these keys with its default in words.
  static let defaults = all.map { ($0.key, $0.standard) } + [(stateFolder, "~/.local/state/rtcast")]
}

/// Options as one configuration file states them.
package struct ConfiguredOptions: Sendable {
  /// A statement of the file.
  struct Statement: Sendable {
    let option: ConfiguredOption
    /// The words for the command line.
    let words: [String]
    let path: String
    let line: Int
  }

  private(set) var statements: [Statement] = []
  private(set) var stateFolder: String?

  /// Reads the members that are options.
  /// - Parameter called: what the sentences of errors call the file.
  init(_ tree: JSONTree, path: String, called: String) throws(PresetError) {
    guard case .object(let members) = tree.value else { return }
    for (name, value) in members {
      func refusal(_ allowed: String) -> PresetError {
        PresetError(
          kind: .malformed,
          sentence: "In the \(called), line \(value.line): \(name) must be \(allowed), not \(value.kind).")
      }
      if name == ConfiguredOption.stateFolder {
        guard case .string(let text) = value.value, text.hasPrefix("/") else {
          throw refusal("the path of a folder that begins with /")
        }
        stateFolder = text
      }
      guard let option = ConfiguredOption.all.first(where: { $0.key == name }) else { continue }
      let words: [String]
      switch (option.kind, value.value) {
      case (.flag, .bool(let isSet)): words = isSet ? [option.option] : []
      case (.flag, _): throw refusal("true or false")
      case (.text, .string(let text)), (.texts, .string(let text)): words = ["\(option.option)=\(text)"]
      case (.texts, .array(let items)):
        words = try items.map { item throws(PresetError) in
          guard case .string(let text) = item.value else { throw refusal("a list of texts") }
          return "\(option.option)=\(text)"
        }
      case (.texts, _): throw refusal("a text or a list of texts")
      case (.text, _): throw refusal("a text in quotation marks")
      }
      statements.append(Statement(option: option, words: words, path: path, line: value.line))
    }
  }
}

extension ConfigurationFiles {
  /// The statements that count for a command line, which does not say the same itself.
  /// - Parameters:
  ///   - arguments: the words after the program's name; the first is the command.
  ///   - hasSockets: the service manager passes the sockets to listen at.
  ///   - variable: returns the value of a variable.
  package func options(
    for arguments: [String], hasSockets: Bool, variable: (String) -> String?
  ) -> [(key: String, words: [String], origin: String)] {
    guard let command = arguments.first else { return [] }
    let words = arguments.prefix { $0 != "--" }
    func isGiven(_ option: String) -> Bool { words.contains { $0 == option || $0.hasPrefix(option + "=") } }
    var seen: Set<String> = []
    return files.flatMap(\.options.statements).compactMap { statement in
      let option = statement.option
      guard option.commands.contains(command), seen.insert(option.key).inserted, !statement.words.isEmpty,
        !([option.option] + option.yieldsTo).contains(where: isGiven), !(option.isForViewers && isGiven("--to")),
        !(hasSockets && option.key == "listen"), option.variable.flatMap(variable) == nil
      else { return nil }
      return (option.key, statement.words, "\(statement.path), line \(statement.line)")
    }
  }

  /// The folder for files that are kept.
  var stateFolder: String? { files.lazy.compactMap(\.options.stateFolder).first }
}
