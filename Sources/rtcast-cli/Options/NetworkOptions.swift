public import ArgumentParser
import Glibc
import Logging
import RTCast
import RTCNet
package import RTCPeer
public import RTCPrimitives
import RTCSignaling

/// How connections find their way: the same options for every command that makes some.
package struct NetworkOptions: ParsableArguments {
  package init() {}

  @Option(
    name: .customLong("ice-server"),
    help: ArgumentHelp(
      "STUN or TURN server to ask: URI, or URI,USER,PASSWORD, such as stun:stun.example or "
        + "turn:turn.example:3478?transport=tcp,me,secret; may be given several times. Other users of this "
        + "machine can read passwords given here; use --ice-server-file or RTCAST_ICE_SERVERS instead. (default: the "
        + "preset's, else $RTCAST_ICE_SERVERS)", valueName: "server"),
    transform: { try ICEServer(option: $0) })
  var iceServers: [ICEServer] = []

  @Option(
    name: .customLong("ice-server-file"),
    help: ArgumentHelp("Read more STUN and TURN servers from this file, one on each line.", valueName: "path"))
  var iceServerFile: String?

  @Option(
    name: .customLong("ice-policy"),
    help: ArgumentHelp(
      "Ways to use: all of them (all), or TURN servers alone (relay), which hides this machine's addresses from remote "
        + "peers. (default: all)", valueName: "policy"))
  var icePolicy: ICETransportPolicy?

  @Option(
    name: .customLong("udp-port"),
    help: ArgumentHelp(
      "UDP port for media, or a range of ports to choose a free one from, such as 5000 or 5000-5100. (default: any)",
      valueName: "n|a-b"),
    transform: { try UDPPortChoice(parsing: $0) })
  var udpPort: UDPPortChoice?

  @Flag(
    name: .customLong("ice-tcp"),
    help: ArgumentHelp(
      "Also accept connections over TCP, on the same port number, from remote peers whose network blocks UDP."))
  var servesTCP = false

  @Option(
    name: .customLong("advertise"),
    help: ArgumentHelp(
      "Address at which this machine is reached from outside, of a NAT, a container's host or a router that forwards a port, "
        + "with the port outside if it is another one, such as 192.0.2.1:5000; a name is resolved again each minute. May be "
        + "given several times; addresses of this machine are offered as well. (default: none)",
      valueName: "address[:port]"),
    transform: { text in
      guard let address = AdvertisedAddress(text) else {
        throw ValidationError(
          "--advertise takes an address or name, and perhaps a port, such as 192.0.2.1, [2001:db8::1]:5000 or "
            + "home.example:5000, not '\(text)'.")
      }
      return address
    })
  var advertised: [AdvertisedAddress] = []

  @Flag(
    name: .customLong("map-port"),
    help: ArgumentHelp(
      "Ask the router, by PCP or NAT-PMP, to forward the ports of this command, so that people outside this network reach it "
        + "without a server between. The ports are closed when the command ends."))
  var mapsPort = false

  @Option(
    name: .customLong("interface"),
    help: ArgumentHelp(
      "Network interfaces whose addresses are offered, such as eth0,wg0; with ! those that are not, such as "
        + "'!docker0'. (default: all; those of containers, virtual machines and VPNs only if the remote peer is "
        + "reached through them)",
      valueName: "names"),
    transform: { text in
      guard let filter = InterfaceFilter(text) else {
        throw ValidationError("--interface takes names such as eth0,wg0 or '!docker0', not '\(text)'.")
      }
      return filter
    })
  var interfaces: InterfaceFilter?

  /// The configuration files are settings of all commands that have these options.
  package func validate() throws {
    try ConfigurationFiles.check()
    guard advertised.count <= 8 else { throw ValidationError("--advertise may be given eight times at most.") }
    if advertised.contains(where: { $0.port != nil }), udpPort == nil {
      throw ValidationError(
        "--advertise with a port needs --udp-port: the port of this machine to which the other one is forwarded.")
    }
  }

  /// Calls use a port of their own for each connection, and what only watches needs none.
  func refuseMapping() throws {
    guard mapsPort else { return }
    throw ValidationError(
      "--map-port is for casts and hubs. For calls, name a TURN server with --ice-server, or use a hub that names one.")
  }

  /// Something was said.
  var isGiven: Bool {
    !iceServers.isEmpty || iceServerFile != nil || icePolicy != nil || udpPort != nil || interfaces != nil
      || servesTCP || !advertised.isEmpty || mapsPort
  }

  /// The value of `RTCAST_ICE_SERVERS`.
  package static var environment: String? { getenv("RTCAST_ICE_SERVERS").map { String(cString: $0) } }

  /// The options of the media plane.
  /// - Parameters:
  ///   - preset: its servers count unless options name some.
  ///   - serversMayFollow: whether a hub or a service may name servers later.
  ///   - environment: the value of `RTCAST_ICE_SERVERS`.
  package func peerOptions(
    preset: [ICEServer] = [], serversMayFollow: Bool,
    environment: String? = NetworkOptions.environment
  ) throws(CastFailure) -> PeerLoop.Options {
    var options = PeerLoop.Options()
    options.iceServers = try servers(preset: preset, environment: environment)
    options.iceTransportPolicy = icePolicy ?? .all
    switch udpPort {
    case .one(let port): options.port = port
    case .range(let ports): options.portRange = ports
    case nil: break
    }
    options.interfaces = interfaces
    options.servesTCP = servesTCP
    options.advertised = advertised
    options.mapsPort = mapsPort
    let hasRelay = options.iceServers.contains { $0.urls.contains(where: \.scheme.isRelay) }
    if options.iceTransportPolicy == .relay, !hasRelay, !serversMayFollow {
      throw CastFailure(
        .usage, "--ice-policy relay needs a TURN server; name one with --ice-server turn:HOST,USER,PASSWORD.")
    }
    return options
  }

  /// Opens the media plane.
  /// - Parameter host: the host of the hub or service by which remote peers are found; nil: remote peers connect here.
  func openPeers(
    preset: Preset?, serversMayFollow: Bool, by host: HostName? = nil, _ logger: Logger
  ) throws(CastFailure) -> PeerLoop {
    try openPeers(servers: preset?.iceServers ?? [], serversMayFollow: serversMayFollow, by: host, logger)
  }

  /// - Parameter servers: the preset's.
  func openPeers(
    servers: [ICEServer], serversMayFollow: Bool, by host: HostName? = nil, _ logger: Logger
  ) throws(CastFailure) -> PeerLoop {
    var options = try peerOptions(preset: servers, serversMayFollow: serversMayFollow)
    options.servers = host.map(Self.addresses) ?? []
    if let absent = missingInterfaces { logger.warning("\(absent)") }
    options.onNotice = { logger.warning("\($0)") }
    do { return try PeerLoop(options) } catch { throw CastFailure(.unavailable, "\(error)") }
  }

  /// The addresses of a host by name or address; empty if it is unknown or this machine.
  private static func addresses(of host: HostName) -> [IPAddress] {
    if let address = IPAddress(host.text) { return address.isLoopback ? [] : [address] }
    guard !host.isLoopback else { return [] }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_ADDRCONFIG
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host.text, nil, &hints, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    var addresses: [IPAddress] = []
    var next = list
    while let entry = next, addresses.count < 8 {
      next = entry.pointee.ai_next
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let isNumeric =
        getnameinfo(
          entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
      if isNumeric,
        let address = IPAddress(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
      {
        addresses.append(address)
      }
    }
    return addresses
  }

  /// A sentence when none of the interfaces that are asked for is there; they may come later.
  private var missingInterfaces: String? {
    guard let wanted = interfaces?.allowed, !wanted.isEmpty, let all = try? NetworkInterfaces.addresses() else {
      return nil
    }
    let present = Set(all.map(\.name))
    guard wanted.isDisjoint(with: present) else { return nil }
    return "There is no interface \(wanted.sorted().joined(separator: ", ")) now; there are "
      + present.sorted().joined(separator: ", ") + "."
  }

  /// Options count before the preset, the preset before the environment, and that before the configuration files.
  func servers(
    preset: [ICEServer], environment: String? = NetworkOptions.environment,
    configured: [ICEServer] = ConfigurationFiles.current.iceServers
  ) throws(CastFailure) -> [ICEServer] {
    var named = iceServers
    if let iceServerFile { named += try ICEServerList.read(iceServerFile) }
    if !named.isEmpty { return named }
    guard preset.isEmpty else { return preset }
    return try environment.map { text throws(CastFailure) in try ICEServerList.parse(text) } ?? configured
  }
}

extension ICETransportPolicy: ExpressibleByArgument {}

/// `--udp-port`.
package enum UDPPortChoice: Hashable, Sendable {
  case one(UInt16)
  case range(ClosedRange<UInt16>)

  package init(parsing text: String) throws {
    let ports = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt16($0) }
    switch (ports.count, ports.first ?? nil, ports.last ?? nil) {
    case (1, let port?, _) where port > 0: self = .one(port)
    case (2, let first?, let last?) where first > 0 && first <= last:
      self = first == last ? .one(first) : .range(first...last)
    default:
      throw ValidationError(
        "--udp-port takes a port from 1 to 65535, or a range such as 5000-5100, not '\(text)'.")
    }
  }
}
