package import RTCPrimitives

/// The most likely reason why a viewer is not connected yet, and the remedy: derived from the candidates and checks of both sides.
/// No input, output or time.
package struct ConnectionDiagnosis: Hashable, Sendable {
  /// Checks as the viewer's browser counts them.
  package struct Checks: Hashable, Sendable {
    package var sent: Int
    /// Answers to them.
    package var answered: Int
    /// Checks that came from the casting machine.
    package var received: Int

    package init(sent: Int, answered: Int, received: Int) {
      (self.sent, self.answered, self.received) = (sent, answered, received)
    }
  }

  /// The facts about a connection that has not come about.
  package struct Evidence: Sendable {
    /// The candidates of the casting machine, and those that the viewer has sent.
    package var local: [ICECandidate] = []
    package var remote: [ICECandidate] = []
    /// The viewer's candidates whose names (multicast DNS) have no address yet.
    package var unresolvedNames = 0
    /// Addresses that were configured, and are not found by themselves.
    package var advertised: [SocketAddress] = []
    package var requestsReceived = 0
    package var responsesReceived = 0
    /// ICE has found a path; the encryption has not been negotiated on it.
    package var hasPath = false
    /// The address from which the viewer has asked by HTTP.
    package var viewerAddress: IPAddress?
    /// Nil: the viewer does not count them.
    package var viewerChecks: Checks?
    /// Only relays are used.
    package var isRelayOnly = false
    /// The STUN and TURN servers that do not work, each with half a sentence that says why.
    package var serverFailures: [String] = []

    package init() {}
  }

  /// The causes that are told apart.
  package enum Cause: Hashable, Sendable {
    /// The casting machine has no address of its own to offer.
    case noLocalAddress
    /// Only relays are to be used, and there is none.
    case noRelay
    /// The viewer has named no address.
    case noRemoteAddress
    /// One side has IPv4 only, the other IPv6 only.
    case noCommonVersion(localIsIPv4: Bool)
    /// The viewer's checks arrive, and nothing of ours arrives there.
    case outgoingBlocked
    /// Our checks arrive at the viewer, and none of its checks here.
    case incomingBlocked(SocketAddress?)
    /// Nothing arrives on either side.
    case portSilent(SocketAddress?, hasTCP: Bool)
    /// Nothing arrives, and only the viewer could begin because its addresses are hidden behind names.
    case namesUnresolved(SocketAddress?)
    /// The viewer is elsewhere, and all addresses of the casting machine are private.
    case privateOnly
    /// Each side is behind a NAT, and they do not let each other's packets in.
    case natsBlock
    /// Nothing arrives at an address that was configured.
    case advertisedSilent(SocketAddress)
    /// A relay is offered, and even there nothing arrives.
    case relaySilent
    /// Checks pass, the larger packets of the handshake do not.
    case handshakeSilent
  }

  package let cause: Cause
  private let serverFailures: [String]

  package init(_ evidence: Evidence) {
    cause = Self.cause(evidence)
    serverFailures = evidence.serverFailures
  }

  // MARK: - Texts

  /// The cause alone, for a status line.
  package var summary: String {
    switch cause {
    case .noLocalAddress: "the casting machine has no network address"
    case .noRelay: "no TURN server works"
    case .noRemoteAddress: "the viewer names no address"
    case .noCommonVersion(let localIsIPv4): localIsIPv4 ? "the viewer has IPv6 only" : "the viewer has IPv4 only"
    case .outgoingBlocked: "packets do not reach the viewer"
    case .incomingBlocked(let place): "\(Self.port(place)) gets no packets of the viewer"
    case .portSilent(let place, _), .namesUnresolved(let place): "\(Self.port(place)) does not answer"
    case .privateOnly: "this machine has private addresses only"
    case .natsBlock: "the NATs of both sides block"
    case .advertisedSilent(let place): "\(Self.port(place)) (--advertise) does not answer"
    case .relaySilent: "the relay does not answer"
    case .handshakeSilent: "large packets are lost"
    }
  }

  /// The cause and the remedy, in sentences for both sides.
  package var sentence: String {
    let text = Self.text(of: cause)
    guard !serverFailures.isEmpty, mentionsServers else { return text }
    return text + " " + serverFailures.prefix(2).map { "\($0)." }.joined(separator: " ")
  }

  private var mentionsServers: Bool {
    switch cause {
    case .noRelay, .privateOnly, .natsBlock, .relaySilent, .portSilent: true
    default: false
    }
  }

  private static func text(of cause: Cause) -> String {
    switch cause {
    case .noLocalAddress:
      "The casting machine has no network address to offer. Connect it to a network, and check --interface."
    case .noRelay:
      "The cast uses relays only, and no TURN server works. Check --ice-server with `rtcast doctor --ice`."
    case .noRemoteAddress:
      "The viewer's browser has named no address. Allow WebRTC in the browser's privacy settings and extensions, and let "
        + "proxies pass PATCH requests on."
    case .noCommonVersion(let localIsIPv4):
      "The casting machine has only \(localIsIPv4 ? "IPv4" : "IPv6"), and the viewer only \(localIsIPv4 ? "IPv6" : "IPv4"). "
        + "Use a network that has both, or a TURN server (--ice-server)."
    case .outgoingBlocked:
      "The viewer's packets arrive at the casting machine, but its answers do not arrive at the viewer. Allow outgoing UDP "
        + "in the firewall of the casting machine, or use a TURN server (--ice-server)."
    case .incomingBlocked(let place):
      "Packets of the casting machine arrive at the viewer, but \(port(place)) gets none from there. Open it in the "
        + "firewall of the casting machine, or cast with --ice-tcp."
    case .portSilent(let place, let hasTCP):
      hasTCP
        ? "\(port(place)) does not answer, neither by TCP nor by UDP. Open both in the firewall of the casting machine."
        : "\(port(place)) does not answer. Open it in the firewall of the casting machine, or cast with --ice-tcp."
    case .namesUnresolved(let place):
      "\(port(place)) does not answer, and the casting machine cannot look up the names behind which the viewer's browser "
        + "hides its addresses. Open the port in the firewall of the casting machine, or cast with --ice-tcp."
    case .privateOnly:
      "The casting machine has only private addresses, which cannot be reached from the viewer's network. Forward its UDP "
        + "port and cast with --advertise ADDRESS:PORT, or use a STUN or TURN server (--ice-server)."
    case .natsBlock:
      "The NATs in front of the casting machine and of the viewer do not let packets through. Use a TURN server "
        + "(--ice-server)."
    case .advertisedSilent(let place):
      "\(port(place)), the address of --advertise, does not answer. Check that it is the outside address, and that the port "
        + "is forwarded to the casting machine."
    case .relaySilent:
      "Not even the TURN server's relay is reached. Let its relay ports through the firewalls, and check it with `rtcast "
        + "doctor --ice`."
    case .handshakeSilent:
      "A path was found, but larger packets are lost on it. Lower the MTU of the casting machine's interface to 1280, as VPNs "
        + "need it."
    }
  }

  private static func port(_ place: SocketAddress?) -> String {
    place.map { "UDP port \($0.port) of \($0.ip.withoutScope)" } ?? "The UDP port of the casting machine"
  }

  // MARK: - The cause

  private static func cause(_ evidence: Evidence) -> Cause {
    if evidence.hasPath { return .handshakeSilent }
    if evidence.isRelayOnly, !evidence.local.contains(where: { $0.kind == .relayed }) { return .noRelay }
    if evidence.local.isEmpty { return .noLocalAddress }
    let isHeard = evidence.requestsReceived > 0
    if isHeard, evidence.responsesReceived == 0 { return .outgoingBlocked }
    if !isHeard, evidence.remote.isEmpty, evidence.unresolvedNames == 0 { return .noRemoteAddress }
    let place = reachable(evidence)
    if let checks = evidence.viewerChecks, checks.received > 0, !isHeard { return .incomingBlocked(place) }
    if !isHeard, let localIsIPv4 = onlyVersion(evidence.local), evidence.unresolvedNames == 0,
      let remoteIsIPv4 = onlyVersion(evidence.remote), localIsIPv4 != remoteIsIPv4
    {
      return .noCommonVersion(localIsIPv4: localIsIPv4)
    }
    return silence(evidence, place)
  }

  /// Nothing arrives on either side.
  private static func silence(_ evidence: Evidence, _ place: SocketAddress?) -> Cause {
    if evidence.local.contains(where: { $0.kind == .relayed })
      || evidence.remote.contains(where: { $0.kind == .relayed })
    {
      return .relaySilent
    }
    if isFar(evidence) {
      if let advertised = evidence.advertised.first(where: { fits($0.ip, evidence) }) ?? evidence.advertised.first {
        return .advertisedSilent(advertised)
      }
      let own = evidence.local.filter { $0.kind == .host && fits($0.address.ip, evidence) }
      if own.allSatisfy(\.address.ip.isPrivate) {
        return evidence.local.contains { $0.kind == .serverReflexive } ? .natsBlock : .privateOnly
      }
    }
    if evidence.remote.isEmpty, evidence.unresolvedNames > 0 { return .namesUnresolved(place) }
    return .portSilent(place, hasTCP: evidence.local.contains { $0.tcpType == .passive })
  }

  /// The viewer is not on a network of private addresses that it shares with the casting machine.
  private static func isFar(_ evidence: Evidence) -> Bool {
    if let viewer = evidence.viewerAddress, !viewer.isLoopback { return !viewer.isPrivate }
    return evidence.remote.contains { $0.kind == .serverReflexive }
  }

  /// Nil: both versions, or no address.
  private static func onlyVersion(_ candidates: [ICECandidate]) -> Bool? {
    let versions = Set(candidates.map(\.address.ip.isV4))
    return versions.count == 1 ? versions.first : nil
  }

  private static func fits(_ ip: IPAddress, _ evidence: Evidence) -> Bool {
    evidence.viewerAddress.map { $0.unmapped.isV4 == ip.isV4 } ?? true
  }

  /// The UDP address at which the viewer is most likely to reach the casting machine.
  private static func reachable(_ evidence: Evidence) -> SocketAddress? {
    let hosts = evidence.local.filter { $0.kind == .host && $0.tcpType == nil && !$0.address.ip.isLinkLocal }
    let fitting = hosts.filter { fits($0.address.ip, evidence) && $0.address.ip.isLoopback == isOnLoopback(evidence) }
    let wanted = fitting.first { $0.address.ip.isPrivate != isFar(evidence) }
    return (wanted ?? fitting.first ?? hosts.first)?.address
  }

  private static func isOnLoopback(_ evidence: Evidence) -> Bool { evidence.viewerAddress?.isLoopback == true }
}

extension IPAddress {
  /// An address that is not routed on the internet: RFC 1918, RFC 6598, RFC 4193, link-local and loopback addresses.
  package var isPrivate: Bool {
    if isLoopback || isLinkLocal { return true }
    switch unmapped {
    case .v4(let value):
      return value >> 24 == 10 || value >> 20 == 0xAC1 || value >> 16 == 0xC0A8 || value >> 22 == 0x6440 >> 6
    case .v6(let high, _, _): return high >> 57 == 0x7E
    }
  }
}
