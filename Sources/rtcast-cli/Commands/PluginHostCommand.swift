import ArgumentParser
import RTCCapturePlugin

/// The process that `rtcast plugin --isolate` and `rtcast list` start for one plugin.
struct PluginHostCommand: ParsableCommand {
  static let name = "plugin-host"

  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Run a plugin for another rtcast.", shouldDisplay: false)

  @Flag(help: "Run the plugins named here and no others.")
  var only = false

  @Argument var plugins: [String] = []

  func run() throws {
    guard let status = PluginHost.run(only: only ? plugins : nil) else {
      Terminal.complain("`rtcast \(Self.name)` is started by rtcast itself; to cast a plugin, use `rtcast plugin`.")
      throw ExitStatus.usage.code
    }
    throw ExitCode(status)
  }
}
