import ArgumentParser
import Logging
import RTCNet
import RTCPeer
import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO

/// The TURN server in the hub.
struct OwnTURNOptions: ParsableArguments {
  @Flag(
    name: .customLong("turn"),
    help: ArgumentHelp(
      "Run a TURN server in this hub, which forwards media between peers that cannot reach each other. Clients get credentials "
        + "for it that expire."))
  var isOn = false

  @Option(
    name: .customLong("turn-port"),
    help: ArgumentHelp("UDP and TCP port of the hub's TURN server. (default: 3478)", valueName: "n"))
  var port: UInt16?

  @Option(
    name: .customLong("turn-relay-ports"),
    help: ArgumentHelp(
      "UDP ports that the hub's TURN server relays from, one for each allocation. (default: 49152-65535)",
      valueName: "a-b"),
    transform: { text in
      guard case .range(let ports)? = try? UDPPortChoice(parsing: text) else {
        throw ValidationError("--turn-relay-ports takes a range such as 50000-50999, not '\(text)'.")
      }
      return ports
    })
  var relayPorts: ClosedRange<UInt16>?

  @Option(
    name: .customLong("turn-host"),
    help: ArgumentHelp(
      "Name or address at which clients reach the hub's TURN server. (default: that of --public-url, --host-name or "
        + "--advertise, otherwise the addresses of this machine)", valueName: "name"),
    transform: { text in
      guard (try? ICEServerURL(parsing: "turn:" + (text.contains(":") ? "[\(text)]" : text))) != nil else {
        throw ValidationError("--turn-host takes a name or an address, such as turn.example, not '\(text)'.")
      }
      return text
    })
  var host: String?

  @Flag(
    name: .customLong("turn-private"),
    help: ArgumentHelp(
      "Let the hub's TURN server relay to private addresses, such as 10.0.0.0/8 and 192.168.0.0/16. Everybody with "
        + "credentials can then send UDP packets into this machine's network."))
  var allowsPrivatePeers = false

  @Option(
    name: .customLong("turn-max-allocations"),
    help: ArgumentHelp("Maximum number of relayed addresses at a time. (default: 1024)", valueName: "n"))
  var allocations: Int?

  @Option(
    name: .customLong("turn-max-rate"),
    help: ArgumentHelp(
      "Maximum rate of a relayed address, in Mbit/s in each direction. (default: 20)", valueName: "mbit"))
  var rate: Double?

  func validate() throws {
    let isGiven =
      port != nil || relayPorts != nil || host != nil || allowsPrivatePeers || allocations != nil || rate != nil
    guard isOn || !isGiven else {
      throw ValidationError("The options --turn-port, --turn-host, --turn-private and the like need --turn.")
    }
    if let allocations, !(1...30_000).contains(allocations) {
      throw ValidationError("--turn-max-allocations takes 1 to 30000.")
    }
    if let rate, !(rate >= 0.1 && rate <= 10_000) {
      throw ValidationError("--turn-max-rate takes 0.1 to 10000 Mbit/s.")
    }
  }

  /// Descriptors of open files that the relayed addresses may need: two for a client that has both versions of IP.
  var openFiles: Int { isOn ? 2 * maximumAllocations : 0 }

  private var maximumAllocations: Int { OpenFiles.relays(of: allocations ?? 1_024) }

  /// Starts the server; nil: it is off.
  /// - Parameters:
  ///   - listen: the address of the hub.
  ///   - advertised: addresses outside of a NAT.
  func start(
    _ secret: Secret?, listen: ListenAddress, advertised: [AdvertisedAddress], _ logger: Logger
  ) throws(CastFailure) -> TURNHost? {
    guard isOn, let secret else { return nil }
    var options = TURNHost.Options(secret: Array(secret.text.utf8))
    options.port = port ?? 3_478
    // A hub behind a proxy listens on loopback, where no client reaches the TURN server.
    if let ip = IPAddress(listen.host.text), !ip.isLoopback, ip.isV4 || !ip.isUnspecified { options.address = ip }
    if let relayPorts { options.relayPorts = relayPorts }
    options.allowsPrivatePeers = allowsPrivatePeers
    options.allocations = maximumAllocations
    if let rate { options.bytesPerSecond = Int64(rate * 125_000) }
    let outside = advertised.filter { $0.port == nil }.compactMap { IPAddress($0.host) }
    options.outside = [outside.first { $0.isV4 }, outside.first { !$0.isV4 }].compactMap(\.self)
    options.onNotice = { logger.warning("\($0)") }
    do throws(TURNHostError) { return try TURNHost(options) } catch {
      throw CastFailure(
        .unavailable, "The TURN server does not start. \(error.reason) Choose another port with --turn-port.")
    }
  }

  /// The ways to the server: UDP, TCP, and TLS at the hub's own port.
  /// - Parameters:
  ///   - securePort: the hub's port, if it has a certificate that clients trust.
  ///   - names: names and addresses of the hub, the best first.
  ///   - addresses: the addresses of this machine.
  func urls(of turn: TURNHost, securePort: UInt16?, names: [String], addresses: [IPAddress]) -> [ICEServerURL] {
    var hosts = (host.map { [$0] } ?? names).prefix(1).map(\.self)
    if hosts.isEmpty {
      hosts = [addresses.first { $0.isV4 }, addresses.first { !$0.isV4 }].compactMap { $0?.description }
    }
    var urls: [ICEServerURL] = []
    for host in hosts {
      urls.append(ICEServerURL(scheme: .turn, host: host, port: turn.port, transport: .udp))
      urls.append(ICEServerURL(scheme: .turn, host: host, port: turn.port, transport: .tcp))
      if let securePort {
        urls.append(ICEServerURL(scheme: .turns, host: host, port: securePort, transport: .tcp))
      }
    }
    return urls
  }
}
