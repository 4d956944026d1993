package import RTCPeer
package import RTCPrimitives
import RTCSignaling

/// The results of gathering, with advice for the user.
package struct ICEFindings: Sendable {
  /// A STUN or TURN server and its answer.
  package struct Server: Hashable, Sendable {
    package var url: ICEServerURL
    /// The server's address; nil before its name was resolved.
    package var address: SocketAddress?
    package var answeredAfter: TimeDelta?
    /// Our address as the server sees it.
    package var mapped: SocketAddress?
    /// The address of the allocation.
    package var relayed: SocketAddress?
    /// A sentence, if it is of no use now.
    package var failure: String?

    package init(
      _ url: ICEServerURL, address: SocketAddress? = nil, answeredAfter: TimeDelta? = nil, mapped: SocketAddress? = nil,
      relayed: SocketAddress? = nil, failure: String? = nil
    ) {
      self.url = url
      self.address = address
      self.answeredAfter = answeredAfter
      self.mapped = mapped
      self.relayed = relayed
      self.failure = failure
    }

    var hasAnswered: Bool { answeredAfter != nil && failure == nil }

    /// The server's fault; nil: it works. A server that is silent has not failed yet for the gatherer, which asks
    /// again.
    var fault: String? { failure ?? (answeredAfter == nil ? "It does not answer." : nil) }
  }

  /// An address of this machine.
  package struct Address: Hashable, Sendable {
    package var interface: String
    package var ip: IPAddress
    package var isOffered: Bool

    package init(interface: String, ip: IPAddress, isOffered: Bool) {
      self.interface = interface
      self.ip = ip
      self.isOffered = isOffered
    }
  }

  package var addresses: [Address]
  package var servers: [Server]
  /// The candidates as in descriptions.
  package var candidates: [String]
  /// UDP port of this machine that peers send to.
  package var port: UInt16
  /// The port was chosen by `--udp-port`.
  package var isPortFixed: Bool

  package init(
    addresses: [Address], servers: [Server], candidates: [String] = [], port: UInt16 = 0, isPortFixed: Bool = false
  ) {
    self.addresses = addresses
    self.servers = servers
    self.candidates = candidates
    self.port = port
    self.isPortFixed = isPortFixed
  }

  package init(_ report: GatheringReport, port: UInt16, isPortFixed: Bool) {
    self.init(
      addresses: report.addresses.map { Address(interface: $0.interface, ip: $0.ip, isOffered: $0.isOffered) },
      servers: report.servers.map {
        Server(
          $0.url, address: $0.address, answeredAfter: $0.answeredAfter, mapped: $0.mapped, relayed: $0.relayed,
          failure: $0.failure)
      },
      candidates: report.candidates, port: port, isPortFixed: isPortFixed)
  }

  // MARK: - Addresses and candidates

  /// One for each interface, in the system's order.
  package var interfaceChecks: [Check] {
    var names: [String] = []
    // Loopback is of interest only where there is nothing else.
    for address in addresses where address.isOffered || !address.ip.isLoopback {
      if !names.contains(address.interface) { names.append(address.interface) }
    }
    return names.map { name in
      let own = addresses.filter { $0.interface == name }
      let offered = own.filter(\.isOffered).map(\.ip.description)
      let others = own.filter { !$0.isOffered }.map(\.ip.description)
      let finding = [
        offered.isEmpty ? nil : offered.joined(separator: ", "),
        others.isEmpty ? nil : "not offered: " + others.joined(separator: ", "),
      ].compactMap(\.self).joined(separator: "; ")
      var check = Check(name: name, verdict: offered.isEmpty ? .lacks : .works, finding: finding)
      check.details = [
        ("interface", .string(name)), ("offered", .array(offered.map { .string($0) })),
        ("left_out", .array(others.map { .string($0) })),
      ]
      return check
    }
  }

  /// One for each candidate.
  package var candidateChecks: [Check] {
    guard !candidates.isEmpty else {
      return [
        .fails(
          "candidates", "none: nobody can reach this machine",
          advice:
            "Connect this machine to a network; with --interface, check the names, with --ice-policy relay the server.")
      ]
    }
    return candidates.map { line in
      let words = line.split(separator: " ")
      let kind = words.firstIndex(of: "typ").flatMap { words.dropFirst($0 + 1).first }.map(String.init) ?? "?"
      let place = words.count > 5 ? "\(words[2].lowercased()) \(Self.place(words[4], words[5]))" : line
      var check = Check.works(kind, place + Self.base(words))
      check.details = [("candidate", .string(line))]
      return check
    }
  }

  private static func place(_ host: Substring, _ port: Substring) -> String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  private static func base(_ words: [Substring]) -> String {
    guard let address = words.firstIndex(of: "raddr"), let port = words.firstIndex(of: "rport"),
      words.indices.contains(address + 1), words.indices.contains(port + 1), words[port + 1] != "0"
    else { return "" }
    return " for \(place(words[address + 1], words[port + 1]))"
  }

  // MARK: - Servers

  /// One for each server, in the order they were named.
  package var serverChecks: [Check] { servers.map(Self.check) }

  private static func check(_ server: Server) -> Check {
    var check = Check(
      name: server.url.description, verdict: server.hasAnswered ? .works : .fails, finding: finding(server),
      advice: server.hasAnswered ? nil : advice(server))
    check.details = [
      ("url", .string(server.url.description)), ("address", .optional(server.address?.description)),
      ("answered_ms", .optional(server.answeredAfter?.inMilliseconds)),
      ("mapped", .optional(server.mapped?.description)), ("relayed", .optional(server.relayed?.description)),
      ("failure", .optional(server.fault)),
    ]
    return check
  }

  private static func finding(_ server: Server) -> String {
    guard server.fault == nil, let time = server.answeredAfter else { return server.fault ?? "" }
    let gain =
      if let relayed = server.relayed { "relays by \(relayed)" } else if let mapped = server.mapped {
        "sees us as \(mapped)"
      } else { "answered" }
    return "\(gain), after \(Figures.milliseconds(time.inMilliseconds))"
  }

  private static func advice(_ server: Server) -> String {
    if server.failure != nil, server.address == nil {
      return "Check the host's name, and this machine's name resolution."
    }
    if server.failure?.contains("credential") == true { return "Check user name and password, and when they end." }
    let transport = server.url.transport == .udp ? "UDP" : "TCP"
    return "Is it running, and does a firewall let \(transport) out to port \(server.url.port) of \(server.url.host)?"
  }

  // MARK: - NAT and firewall

  /// The kind of NAT that the answers suggest (RFC 5780 §4), as far as servers with different addresses show it.
  package enum Mapping: String, Sendable {
    /// No server has reported our address.
    case unknown
    /// Servers see an address of this machine.
    case none
    /// One server's word is not enough.
    case some
    /// One mapping for all destinations.
    case endpointIndependent = "endpoint-independent"
    /// A mapping for each destination: a "symmetric" NAT.
    case addressDependent = "address-dependent"
    /// Servers answer by TCP alone.
    case blocked
  }

  /// The mapping seen by servers that were asked by UDP on IPv4.
  package var mapping: Mapping {
    let asked = servers.filter { $0.url.transport == .udp }
    let seen = asked.filter { $0.hasAnswered && $0.mapped?.ip.isV4 == true }
    guard !seen.isEmpty else {
      let isBlocked = !asked.isEmpty && servers.contains { $0.url.transport == .tcp && $0.hasAnswered }
      return isBlocked ? .blocked : .unknown
    }
    if seen.contains(where: { server in addresses.contains { $0.ip == server.mapped?.ip } }) { return .none }
    if Set(seen.compactMap(\.mapped)).count > 1 { return .addressDependent }
    return Set(seen.compactMap(\.address)).count > 1 ? .endpointIndependent : .some
  }

  private var mappedText: String { servers.lazy.compactMap(\.mapped).first { $0.ip.isV4 }?.description ?? "" }

  /// The NAT's behaviour and its consequences.
  package var mappingCheck: Check {
    let relay = servers.first { $0.relayed != nil }
    let advice = relay == nil ? "Name a TURN server with --ice-server turn:HOST,USER,PASSWORD." : nil
    var check: Check
    switch mapping {
    case .unknown where servers.isEmpty:
      check = .lacks(
        "NAT", "not known: no server to ask; peers outside this network may not reach this machine",
        advice: "Name one with --ice-server stun:HOST, or turn:HOST,USER,PASSWORD.")
    case .unknown:
      check = .lacks(
        "NAT", "not known: no server answered over UDP",
        advice: "See above why the servers do not answer.")
    case .none: check = .works("NAT", "none: servers see an address of this machine")
    case .some:
      check = .works("NAT", "there is one, which shows \(mappedText); name a second STUN server to find out its kind")
    case .endpointIndependent:
      check = .works("NAT", "shows \(mappedText) to every destination: most peers reach this machine directly")
    case .addressDependent:
      check = Check(
        name: "NAT", verdict: relay == nil ? .lacks : .works,
        finding: "shows another address to each destination (symmetric): peers behind such a NAT need a relay",
        advice: advice)
    case .blocked:
      check = Check(
        name: "NAT", verdict: .lacks, finding: "UDP does not get out of this network: servers answer by TCP alone",
        advice: "Let UDP out, at least to port 3478 of the servers; over TCP every connection needs a relay.")
    }
    check.details = [("mapping", .string(mapping.rawValue))]
    return check
  }

  /// The ports to allow.
  package var firewallCheck: Check {
    var check =
      isPortFixed
      ? Check.works("firewall", "peers send to UDP port \(port) of this machine; let it in for the shortest ways")
      : Check(
        name: "firewall", verdict: .works,
        finding: "peers send to UDP port \(port) this time; it is another at each start",
        advice: "For a firewall's rule, fix it with --udp-port, and let UDP in to that port.")
    check.details = [("port", .count(port))]
    return check
  }
}
