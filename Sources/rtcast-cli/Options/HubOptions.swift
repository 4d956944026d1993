import ArgumentParser
import Glibc
import RTCSignaling

/// The hub of peers and rooms, and the window: for `call`, `watch`, and every cast with `--to NAME`.
struct HubOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Hub of the peer or room, such as wss://hub.example, or a link to it. (default: $RTCAST_SERVER)", valueName: "url"
    ),
    transform: { try HubChoice.address($0) })
  var server: LinkedHub?

  @Option(
    name: .customLong("name"),
    help: ArgumentHelp("Name to register at the hub. (default: the hub chooses one)", valueName: "name"))
  var ownName: String?

  @Flag(name: .customLong("no-window"), help: "Open no window for received video.")
  var hidesWindow = false

  func hub(for target: HubTarget?) throws(CastFailure) -> LinkedHub {
    try HubChoice.find(target, option: server, environment: getenv("RTCAST_SERVER").map { String(cString: $0) })
  }
}
