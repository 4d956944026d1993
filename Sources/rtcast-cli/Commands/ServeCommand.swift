import ArgumentParser
import Glibc
import RTCSignaling

struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Run a signaling hub: peers by name, rooms, and a page for calls between browsers and rtcast.",
    discussion: """
      Peers find each other here; audio, video and chat go directly between them. Pages and programs connect at /hub, \
      PeerJS clients at /peerjs, SkyRTC clients at / or /skyrtc. A stream published by WHIP at /whip/NAME can be watched at \
      /watch?stream=NAME, or by WHEP at /whep/NAME; the page /wall shows all streams. /healthz and /metrics are for monitoring.

      The hub listens on every address, IPv4 and IPv6, unless --listen says otherwise; 0.0.0.0 is IPv4 alone. Unless a \
      token is given or --open, it makes a secret at the first start, keeps it in ~/.local/state/rtcast/serve-token, \
      and prints links that carry it: they allow everything here. `rtcast link` makes links that allow one thing and \
      end. On loopback alone everybody on this machine is let in, unless a token is given.

      Browsers give camera and microphone to pages of other machines only over HTTPS: use --tls, which makes a certificate \
      at the first start and keeps it beside the secret, or --tls-cert and --tls-key.

      Examples:
        rtcast serve --tls
        rtcast link --role call --expires 2h
            a link to it for one meeting
        rtcast serve --listen 0.0.0.0:3000 --token-file /etc/rtcast/token
        rtcast serve --listen 127.0.0.1:8080 --tokens /etc/rtcast/tokens
        rtcast serve --tls --ice-server stun:stun.example --turn-url turn:turn.example --turn-secret-file turn-secret
        rtcast serve --tls-cert cert.pem --tls-key key.pem --token-file token --cluster redis://redis.example
            one of several hubs with the same names and rooms
        PORT=3000 rtcast serve
        rtcast screen --to http://localhost:8080/whip/mine

      The servers of --ice-server, and those of --turn-url with credentials for each client, are sent to pages, to rtcast, \
      and to clients of WHIP and WHEP. PeerJS and SkyRTC have no message for them; their clients need servers of their own.

      A file for --tokens has a name and its token on each line; # starts a comment. All other names need the hub's own \
      secret, or a link signed with it.
      """)

  @Option(
    help: ArgumentHelp(
      "Address and port to listen on, or unix:PATH for a proxy on this machine. (default: every address, port $PORT or "
        + "8080)", valueName: "host:port"),
    transform: { try ListenOption.address($0) })
  var listen: ListenAddress?

  @OptionGroup var token: TokenOptions

  @Option(
    help: ArgumentHelp("Read the names that may connect, each with its own token, from this file.", valueName: "path"))
  var tokens: String?

  @OptionGroup var access: AccessOptions

  @Option(
    help: ArgumentHelp(
      "Web site whose pages may connect to an open hub, such as https://app.example, or * for all; may be given several "
        + "times.", valueName: "origin"),
    transform: { try AccessOptions.site($0, option: "--allow-origin") })
  var allowOrigin: [String] = []

  @OptionGroup(title: "Network") var network: NetworkOptions
  @OptionGroup(title: "TURN service") var turn: TURNOptions

  @OptionGroup(title: "Several hubs") var cluster: ClusterOptions

  @OptionGroup var limits: ServeLimits

  @Flag(name: .customLong("no-qr"), help: "Print no QR code of the link.")
  var hidesQRCode = false

  @OptionGroup var control: ControlOptions
  @OptionGroup var output: RunOptions

  func validate() throws {
    try access.check(token)
    try access.check(listen: listen)
    if access.isOpen, tokens != nil {
      throw ValidationError("--open lets everybody in, and --tokens limits who may connect; give one of them.")
    }
    _ = try listenAddress
  }

  func run() async throws { try await ServeRunner(self).run() }

  /// Tests/features.md S3.46: the port may come from the environment.
  var listenAddress: ListenAddress {
    get throws {
      if let listen { return listen }
      var port: UInt16 = 8080
      if let text = getenv("PORT").map({ String(cString: $0) }), !text.isEmpty {
        guard let number = UInt16(text) else {
          throw ValidationError("PORT must be a number from 0 to 65535, not '\(text)'.")
        }
        port = number
      }
      return .everywhere(port: port)
    }
  }
}

/// The limits that keep one client from using all resources.
struct ServeLimits: ParsableArguments {
  @Option(help: ArgumentHelp("Maximum number of connections.", valueName: "n")) var maxConnections = 4096
  @Option(help: ArgumentHelp("Maximum number of registered names.", valueName: "n")) var maxPeers = 2048
  @Option(help: ArgumentHelp("Maximum number of rooms.", valueName: "n")) var maxRooms = 512
  @Option(help: ArgumentHelp("Maximum number of published streams at a time.", valueName: "n")) var maxStreams = 64
  @Option(help: ArgumentHelp("Maximum size of a message, in bytes.", valueName: "bytes")) var maxMessage = 131_072
  @Option(help: ArgumentHelp("Maximum rate of messages from each client, per second.", valueName: "n")) var maxRate =
    50.0

  func validate() throws {
    for (name, value) in [
      ("--max-connections", maxConnections), ("--max-peers", maxPeers), ("--max-rooms", maxRooms),
      ("--max-streams", maxStreams),
    ] where !(1...1_000_000).contains(value) {
      throw ValidationError("\(name) takes 1 to 1000000.")
    }
    guard (1024...16_777_216).contains(maxMessage) else {
      throw ValidationError("--max-message takes 1024 to 16777216 bytes.")
    }
    guard maxRate >= 1, maxRate <= 1_000_000 else { throw ValidationError("--max-rate takes 1 to 1000000.") }
  }
}
