import ArgumentParser
import RTCCapturePlugin

/// What `rtcast plugin --isolate` and `rtcast list` start: a process for one plugin.
struct PluginHostCommand: ParsableCommand {
  static let name = "plugin-host"

  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Run a plugin for another rtcast.", shouldDisplay: false)

  func run() throws {
    guard let status = PluginHost.run() else {
      Terminal.complain("`rtcast \(Self.name)` is started by rtcast itself; to cast a plugin, use `rtcast plugin`.")
      throw ExitStatus.usage.code
    }
    throw ExitCode(status)
  }
}
