import ArgumentParser
import Glibc
import RTCSignaling
import RTCast

/// What `call` and `watch` take, and casting commands beside their own.
struct HubOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The hub where the peer or room is, such as wss://host. (default: $RTCAST_SERVER)", valueName: "url"),
    transform: { try HubChoice.address($0) })
  var server: HubAddress?

  @Option(
    name: .customLong("name"),
    help: ArgumentHelp("Our own name at the hub. (default: the hub chooses)", valueName: "name"))
  var ownName: String?

  @Flag(name: .customLong("no-window"), help: "Open no window for what comes.")
  var hidesWindow = false

  func hub(for target: HubTarget?) throws(CastFailure) -> HubAddress {
    try HubChoice.find(target, option: server, environment: getenv("RTCAST_SERVER").map { String(cString: $0) })
  }
}

/// What `call` and `watch` share.
struct ReceiveOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The hub's token for our name, or the WHEP service's.", valueName: "secret"),
    transform: { try Secret($0) })
  var token: Secret?

  @Option(
    help: ArgumentHelp(
      "Settings: \(Preset.builtInNames.joined(separator: ", ")), or the path of a file.", valueName: "name|path"),
    transform: { try CastOptions.preset($0) })
  var preset: Preset?

  @Option(
    help: ArgumentHelp("Record what comes, as it comes, into this .mkv, .webm or .mp4.", valueName: "file"))
  var record: String?

  @Option(
    help: ArgumentHelp("Stop by itself after so many seconds.", valueName: "seconds"),
    transform: { try CastOptions.duration($0) })
  var duration: Double?

  @Flag(help: "One JSON object a line on standard output, and nothing else.")
  var json = false

  @Flag(name: [.short, .long], help: "Log more to standard error; twice for even more.")
  var verbose: Int
}

/// `--answer`: what becomes of calls that come.
enum AnswerChoice: String, ExpressibleByArgument, CaseIterable {
  case auto, ask, reject
}
