import ArgumentParser
import Glibc
import RTCSignaling

struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Run a signaling hub: peers by name, rooms, and a page for calls between browsers and rtcast.",
    discussion: """
      Peers find each other here; what they show and say goes between them directly. Pages and programs connect at /hub; \
      PeerJS clients at /peerjs, SkyRTC clients at / or /skyrtc. What is published by WHIP at /whip/NAME can be watched at \
      /watch?stream=NAME, or by WHEP at /whep/NAME. /healthz and /metrics are for those who watch over it.

      Browsers give camera and microphone to pages of other machines by https alone: give --tls, which makes a certificate \
      at the first start and keeps it, or --tls-cert and --tls-key.

      Examples:
        rtcast serve --tls
        rtcast serve --listen 0.0.0.0:3000 --token s3cret
        rtcast serve --listen 127.0.0.1:8080 --tokens /etc/rtcast/tokens
        PORT=3000 rtcast serve
        rtcast screen --to http://localhost:8080/whip/mine

      A file of tokens has a name and its token in each line; # begins a comment. Together with --token other names take \
      that one; without, other names are refused.
      """)

  @Option(
    help: ArgumentHelp("Where to listen. (default: every address, port $PORT or 8080)", valueName: "host:port"),
    transform: { try CastOptions.listenAddress($0) })
  var listen: ListenAddress?

  @Option(
    help: ArgumentHelp("Secret that clients must show; also asked for /metrics.", valueName: "secret"),
    transform: { try Secret($0).token })
  var token: AccessToken?

  @Option(help: ArgumentHelp("File with names and their own tokens.", valueName: "file"))
  var tokens: String?

  @Flag(help: "HTTPS and WSS with a certificate that vouches for itself.")
  var tls = false

  @Option(help: ArgumentHelp("HTTPS and WSS with this certificate, or chain, in PEM.", valueName: "file"))
  var tlsCert: String?

  @Option(help: ArgumentHelp("Key of the certificate in PEM.", valueName: "file"))
  var tlsKey: String?

  @Option(
    help: ArgumentHelp("Further name of this server, such as that of a proxy in front of it.", valueName: "name"))
  var hostName: [String] = []

  @Option(
    help: ArgumentHelp(
      "Web site whose pages may connect without a token, such as https://app.example; * for all.", valueName: "origin"))
  var allowOrigin: [String] = []

  @Option(
    help: ArgumentHelp("STUN or TURN server to tell clients of: URI, or URI,USER,PASSWORD.", valueName: "server"),
    transform: { try Self.iceServer($0) })
  var iceServer: [ICEServerLink] = []

  @Option(help: ArgumentHelp("Connections at most.", valueName: "n")) var maxConnections = 4096
  @Option(help: ArgumentHelp("Names at most.", valueName: "n")) var maxPeers = 2048
  @Option(help: ArgumentHelp("Rooms at most.", valueName: "n")) var maxRooms = 512
  @Option(help: ArgumentHelp("Bytes of a message at most.", valueName: "bytes")) var maxMessage = 131_072
  @Option(help: ArgumentHelp("Messages a second from each client at most.", valueName: "n")) var maxRate = 50.0

  @Option(
    help: ArgumentHelp("Stop by itself after so many seconds.", valueName: "seconds"),
    transform: { text in
      guard let value = Double(text), value > 0, value <= 100_000_000 else {
        throw ValidationError("--duration is in seconds, above 0 and up to 100000000.")
      }
      return value
    })
  var duration: Double?

  @Flag(help: "One JSON object a line on standard output, and nothing else.")
  var json = false

  @Flag(name: .customLong("no-qr"), help: "Leave out the QR code of the link.")
  var hidesQRCode = false

  @Flag(name: [.short, .long], help: "Log more to standard error; twice for even more.")
  var verbose: Int

  func validate() throws {
    if (tlsCert == nil) != (tlsKey == nil) {
      throw ValidationError("--tls-cert and --tls-key go together; give both, or --tls for a certificate made here.")
    }
    if tls, tlsCert != nil {
      throw ValidationError("--tls makes a certificate and --tls-cert names one; give one of them.")
    }
    for (name, value) in [
      ("--max-connections", maxConnections), ("--max-peers", maxPeers), ("--max-rooms", maxRooms),
    ] where !(1...1_000_000).contains(value) {
      throw ValidationError("\(name) is from 1 to 1000000.")
    }
    guard (1024...16_777_216).contains(maxMessage) else {
      throw ValidationError("--max-message is in bytes, from 1024 to 16777216.")
    }
    guard maxRate >= 1, maxRate <= 1_000_000 else { throw ValidationError("--max-rate is from 1 to 1000000.") }
    for origin in allowOrigin where origin != "*" {
      guard let address = WebAddress(origin), address.target == "/", !origin.hasSuffix("/") else {
        throw ValidationError("--allow-origin wants a site such as https://app.example, without a path, or *.")
      }
    }
    _ = try listenAddress
  }

  func run() async throws { try await ServeRunner(self).run() }

  /// docs/features.md S3.46: the port may come from the environment.
  var listenAddress: ListenAddress {
    get throws {
      if let listen { return listen }
      var port: UInt16 = 8080
      if let text = getenv("PORT").map({ String(cString: $0) }), !text.isEmpty {
        guard let number = UInt16(text) else {
          throw ValidationError("PORT is a number from 0 to 65535, not '\(text)'.")
        }
        port = number
      }
      return ListenAddress(host: HostName("0.0.0.0"), port: port)
    }
  }

  private static func iceServer(_ text: String) throws -> ICEServerLink {
    let parts = text.split(separator: ",", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    guard ["stun:", "stuns:", "turn:", "turns:"].contains(where: { text.hasPrefix($0) }), parts.count != 2 else {
      throw ValidationError("--ice-server wants stun:HOST, or turn:HOST,USER,PASSWORD; not '\(text)'.")
    }
    return ICEServerLink(
      uri: parts[0], username: parts.count == 3 ? parts[1] : nil, credential: parts.count == 3 ? parts[2] : nil)
  }
}
