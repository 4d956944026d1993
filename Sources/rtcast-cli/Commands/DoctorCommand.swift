import ArgumentParser
import Logging
import RTCSignaling
import RTCast

struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check this machine for what casting needs, and say how to fix what is missing.",
    discussion: """
      ✓ works; ! works with a limitation; ✗ `rtcast screen` cannot work. Exit status: 0, or 69 if there is a ✗. Packages are \
      named as those of Debian, Ubuntu, Fedora, Arch or openSUSE.

      With --ice, it checks instead how peers can reach this machine: its addresses; each STUN and TURN server of \
      --ice-server, of --preset, of the environment, and of the hub or service at URL; the kind of NAT; a connection by \
      each way. ✗ marks a server or a way that does not work. With --from, a hub elsewhere tries to reach this machine \
      at the port of --udp-port, or at any free one, by UDP and by TCP.

      Examples:
        rtcast doctor
        rtcast doctor --display :1
        rtcast doctor --json
        rtcast doctor --ice --ice-server stun:stun.example --ice-server turn:turn.example,me,secret
        rtcast doctor --ice wss://hub.example --token-file ~/.rtcast-token
        rtcast doctor --ice --from https://hub.example --udp-port 5000
      """)

  @Option(help: ArgumentHelp("X display. (default: $DISPLAY)", valueName: "name"))
  var display: String?

  @Option(
    defaultAsFlag: "",
    help: ArgumentHelp(
      "Check ways through NATs and firewalls. With a hub (wss://HOST), or a WHIP or WHEP service "
        + "(https://HOST/PATH), also check the servers that it names.", valueName: "url"))
  var ice: String? = nil

  @Option(
    help: ArgumentHelp(
      "Hub (https://HOST) that tries from outside whether a port of this machine is reached, with --ice.",
      valueName: "url"))
  var from: String?

  @Option(
    name: .customLong("preset"),
    help: ArgumentHelp("Preset whose iceServers are checked, with --ice.", valueName: "name|path"),
    transform: { try MediaOptions.preset($0) })
  var presetOption: Preset?

  /// The preset, and the configuration files where it says nothing.
  var preset: Preset? { ConfigurationFiles.current.filling(presetOption) }

  @OptionGroup var token: TokenOptions

  @OptionGroup(title: "Network") var network: NetworkOptions

  @Flag(help: "Print one JSON object per line on standard output, one for each check; docs/json.md describes it.")
  var json = false

  @OptionGroup var sandbox: SandboxOptions

  func validate() throws {
    if ice == nil, network.isGiven || presetOption != nil || from != nil {
      throw ValidationError("--from, --preset and the network options need --ice: `rtcast doctor --ice`.")
    }
  }

  func run() async throws {
    if let ice { return try await check(ice) }
    let checks =
      DisplayChecks(display: display).run() + SoundChecks.run() + CodecChecks.run() + FileChecks.run()
      + IsolationChecks.run()
      + SandboxChecks.run() + NetworkChecks.run() + MachineChecks.run()
    let works = !checks.contains { $0.verdict == .fails }
    if json {
      for check in checks { Terminal.print(check.object.text) }
    } else {
      for check in checks { Terminal.print(check.lines()) }
      Terminal.print(
        works
          ? "\n`rtcast screen` works on this machine."
          : "\n`rtcast screen` cannot work yet; see the lines marked ✗.")
    }
    try Terminal.finish()
    if !works { throw ExitStatus.unavailable.code }
  }

  private func check(_ url: String) async throws {
    do throws(CastFailure) {
      var options = try network.peerOptions(preset: preset?.iceServers ?? [], serversMayFollow: true)
      if !url.isEmpty {
        let (address, fragment) = LinkFragment.split(url)
        let secret = try token.secret(link: fragment.token, preset: preset?.token)
        options.iceServers += try await AdvertisedServers.ask(address, token: secret?.text)
      }
      var doctor = ICEDoctor(options: options, isJSON: json)
      if let from {
        let port = options.port != 0 ? options.port : options.portRange?.lowerBound ?? 0
        let (address, fragment) = LinkFragment.split(from)
        let secret = try token.secret(link: fragment.token, preset: preset?.token)?.text
        if !json, Terminal.isInteractive { Terminal.showLive("Asking the hub …") }
        doctor.outside = try await OutsideCheck(address, token: secret, port: port).run()
        Terminal.showLive("")
      }
      let works = try await doctor.run()
      if !works { throw CastFailure(.unavailable, "Something above does not work; see the lines marked ✗.") }
    } catch {
      Terminal.complain(error.sentence)
      throw error.status.code
    }
  }
}
