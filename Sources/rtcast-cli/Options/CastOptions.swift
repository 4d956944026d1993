public import ArgumentParser
import RTCMedia
public import RTCSignaling

/// The options of every casting command.
package struct CastOptions: ParsableArguments {
  package init() {}

  @OptionGroup(title: "What is sent") var media: MediaOptions
  @OptionGroup(title: "Viewers") var viewers: ViewerOptions
  @OptionGroup(title: "Sending elsewhere") var destination: DestinationOptions
  @OptionGroup(title: "Network") var network: NetworkOptions
  @OptionGroup(title: "While it runs") var output: CastOutputOptions

  package func validate() throws {
    if destination.to != nil, viewers.listen != .loopback {
      throw ValidationError("--to sends elsewhere and --listen serves viewers here; give one of them.")
    }
    if destination.to != nil, viewers.access.isGiven {
      throw ValidationError(
        "--open, --tls and related options are for viewers that connect to this program. With --to, leave them out.")
    }
    if network.mapsPort, destination.to == nil { try viewers.checkMapping() }
    try viewers.access.check(viewers.token)
    try viewers.access.check(listen: viewers.listen)
    var isCall = false
    if case .hub = destination.to {
      isCall = true
      try network.refuseMapping()
    }
    let hub = destination.hub
    if !isCall, hub.server != nil || hub.ownName != nil || hub.hidesWindow {
      throw ValidationError("--server, --name and --no-window are for calls; name the peer to call with --to NAME.")
    }
  }
}

/// The server for viewers, and the token.
package struct ViewerOptions: ParsableArguments {
  package init() {}

  @Option(
    help: ArgumentHelp(
      "Address and port of the server for viewers; port 0 picks a free one, and 0.0.0.0 lets other machines in. "
        + "unix:PATH makes a socket for a proxy on this machine. (default: 127.0.0.1:0)",
      valueName: "host:port"),
    transform: { try ListenOption.address($0) })
  var listen: ListenAddress = .loopback

  @OptionGroup var token: TokenOptions
  @OptionGroup var access: AccessOptions

  @Option(
    name: .customLong("cpu-limit"),
    help: ArgumentHelp(
      "Send no exact pixels while rtcast uses more CPU than this, in per cent of one core. Still pictures then have "
        + "the quality of video. (default: no limit)", valueName: "percent"),
    transform: { try ProcessorShare(parsing: $0) })
  var processorLimit: ProcessorShare?

  @Flag(name: .customLong("no-qr"), help: "Print no QR code of the link.")
  var hidesQRCode = false

  /// A port that only this machine reaches is of no use outside.
  func checkMapping() throws {
    guard !listen.host.isLoopback, listen.socketPath == nil else {
      throw ValidationError(
        "--map-port lets viewers outside reach the page, but the page is served to this machine alone. Add --listen "
          + "0.0.0.0:0, or a port of your choice.")
    }
  }
}

/// `--to` and what belongs to it.
struct DestinationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Send to this destination instead of serving viewers here: https://HOST/PATH (publish to a WHIP service), NAME or "
        + "room:NAME (call a peer or join a room at the hub of --server), wss://HOST/NAME (the same, hub included), or "
        + "manual (exchange session descriptions by copy and paste).", valueName: "destination"),
    transform: { try CastTarget(parsing: $0) })
  var to: CastTarget?

  @OptionGroup var hub: HubOptions
}

/// The output and control options of a cast.
struct CastOutputOptions: ParsableArguments {
  @OptionGroup var recording: RecordOptions
  @OptionGroup var control: ControlOptions

  @Flag(help: "Print a line of statistics every second even if standard output is not a terminal.")
  var stats = false

  @OptionGroup var rateLog: RateLogOptions
  @OptionGroup var run: RunOptions
}

/// `--listen`.
package enum ListenOption {
  /// A port is required: an explicit address with an arbitrary port would be a surprise.
  package static func address(_ text: String) throws -> ListenAddress {
    let namesPort =
      text.last?.isNumber == true && (text.contains(":") || text.utf8.allSatisfy { (48...57).contains($0) })
    do throws(ListenAddressError) {
      let address = try ListenAddress(parsing: text)
      guard namesPort || address.socketPath != nil else { throw .malformed(text) }
      return address
    } catch {
      throw ValidationError("\(error)")
    }
  }
}

extension ListenAddress: ExpressibleByArgument {
  /// Parses the argument as `ListenAddress.init(parsing:)` does; nil when it is no address to listen at.
  public init?(argument: String) { try? self.init(parsing: argument) }
  /// The address as help texts show it.
  public var defaultValueDescription: String { description }
}

/// `--cpu-limit`: processor time, in per cent of one core, 1 to 6400.
package struct ProcessorShare {
  /// The share of one core's time.
  package let value: Double

  package init(parsing text: String) throws {
    guard let percent = Double(text.hasSuffix("%") ? String(text.dropLast()) : text), (1...6400).contains(percent)
    else {
      throw ValidationError("--cpu-limit takes 1 to 6400 per cent of one core; 100 is one core, 50 is half of it.")
    }
    value = percent / 100
  }
}
