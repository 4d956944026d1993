import ArgumentParser
import RTCSignaling
import RTCast

struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Print each setting, its value, and where that comes from.",
    discussion: """
      Settings that neither the command line, nor the environment, nor a preset states are taken from \
      ~/.config/rtcast/config.json (or $XDG_CONFIG_HOME/rtcast/config.json), and after it from /etc/rtcast/config.json. Both have \
      the keys of presets, and keys for options such as listen: presets/README.md describes them.

      Examples:
        rtcast config
        rtcast config --preset lan
            what holds for a cast with that preset

      Exit status: 0; 64 a file is wrong.
      """)

  @Option(
    help: ArgumentHelp("Print what holds with this preset.", valueName: "name|path"),
    transform: { try Self.preset($0) })
  var preset: NamedPreset?

  @Flag(help: "Print one JSON object for each setting; docs/json.md describes it.")
  var json = false

  @OptionGroup var sandbox: SandboxOptions

  func validate() throws { try ConfigurationFiles.check() }

  func run() throws {
    let origins = SettingOrigins(
      .current, preset: preset.map { ($0.name, $0.tree) }, environment: SettingOrigins.variables)
    if json {
      for setting in origins.settings { Terminal.print(Self.object(setting).text) }
    } else {
      let rows = origins.settings.map { setting in
        [setting.key, setting.value, setting.origin + (setting.line.map { ", line \($0)" } ?? "")]
      }
      for line in ControlText.table([["SETTING", "VALUE", "FROM"]] + rows) { Terminal.print(line) }
    }
    try Terminal.finish()
  }

  private static func object(_ setting: SettingOrigins.Setting) -> JSONValue {
    .object([
      ("key", .string(setting.key)), ("value", .string(setting.value)), ("origin", .string(setting.origin)),
      ("line", setting.line.map { .count($0) } ?? .null),
    ])
  }

  /// A preset with its text.
  struct NamedPreset: Sendable {
    let name: String
    let tree: JSONTree
  }

  private static func preset(_ nameOrPath: String) throws -> NamedPreset {
    _ = try MediaOptions.preset(nameOrPath)
    let json: [UInt8]
    do throws(PresetError) { json = try Preset.text(of: nameOrPath).json } catch {
      throw ValidationError(error.sentence)
    }
    do throws(JSONError) { return NamedPreset(name: nameOrPath, tree: try JSONTree(parsing: json)) } catch {
      throw ValidationError("The preset \(nameOrPath) is not JSON: \(error.problem).")
    }
  }
}
