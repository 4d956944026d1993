import ArgumentParser
import Logging
import RTCSignaling
import RTCast

struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Watch a cast in a window, or record it.",
    discussion: """
      Takes a link that `rtcast` prints, the URL of a WHEP service, or the name of a peer at a hub. Sends nothing. \
      With this command, desktops show links that begin with rtcast:, such as rtcast:https://host/#token=….

      Sound is played on the default output. There is no key to mute it: mute rtcast in the desktop's volume control, or \
      run `pactl list short sink-inputs` and `pactl set-sink-input-mute NUMBER 1`.

      Keys in the window: f is full screen, q closes it.

      Examples:
        rtcast watch http://127.0.0.1:8080/
        rtcast watch https://sfu.example/whep/talk --token-file ~/.sfu-token --record talk.mkv
        rtcast watch alice --server wss://hub.example
        rtcast watch manual
            paste the description that `rtcast screen --to manual` prints
      """)

  @Argument(help: ArgumentHelp("What to watch: a URL, NAME, room:NAME, wss://HOST/NAME or manual.", valueName: "what"))
  var what: String

  @OptionGroup(title: "Connection") var connection: WatchConnectionOptions
  @OptionGroup(title: "Network") var network: NetworkOptions
  @OptionGroup(title: "While it runs") var output: WatchOutputOptions

  func validate() throws {
    try network.refuseMapping()
    _ = try CastTarget(parsing: RegisteredLink.target(of: what))
  }

  func run() async throws {
    let logger = StandardErrorLog.logger(verbosity: output.run.verbose)
    do throws(CastFailure) {
      switch try target() {
      case .whip(let url, let token):
        let secret = try connection.token.secret(link: token, preset: connection.preset?.token)
        try await WatchRunner(.service(url, token: secret?.text), self, logger).run()
      case .manual: try await WatchRunner(.manual, self, logger).run()
      case .hub(let target): try await CallRunner(try plan(target), logger: logger).perform()
      }
    } catch {
      CallOutput(isJSON: output.run.json).failed(error)
      throw error.status.code
    }
  }

  /// Parsed already, when the command line was.
  private func target() throws(CastFailure) -> CastTarget {
    do { return try CastTarget(parsing: RegisteredLink.target(of: what)) } catch {
      throw CastFailure(.usage, "\(error)")
    }
  }

  private func plan(_ target: HubTarget) throws(CastFailure) -> CallPlan {
    let hub = try connection.hub.hub(for: target)
    var plan = CallPlan(
      target: .place(target.place), hub: hub.address, connection.hub,
      token: try connection.token.secret(link: hub.token, preset: connection.preset?.token), output.run)
    if let preset = connection.preset { plan.configuration = CallConfiguration(preset) }
    plan.network = network
    plan.recording = output.recording
    return plan
  }
}

/// The options of the connection and the window.
struct WatchConnectionOptions: ParsableArguments {
  @OptionGroup var hub: HubOptions
  @OptionGroup var token: TokenOptions

  @Option(
    name: .customLong("preset"),
    help: ArgumentHelp(
      "Preset: \(Preset.builtInNames.joined(separator: ", ")), or the path of a JSON file. Only its "
        + "connectionTimeout and iceServers are used here.", valueName: "name|path"),
    transform: { try MediaOptions.preset($0) })
  var presetOption: Preset?

  /// The preset, and the configuration files where it says nothing.
  var preset: Preset? { ConfigurationFiles.current.filling(presetOption) }
}

/// The recording and output options of `watch`.
struct WatchOutputOptions: ParsableArguments {
  @OptionGroup var recording: RecordOptions
  @OptionGroup var run: RunOptions
}
