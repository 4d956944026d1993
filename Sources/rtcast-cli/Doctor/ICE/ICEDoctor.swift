import Glibc
import Logging
import RTCPeer
import RTCPrimitives
import RTCSignaling

/// How far this machine is reached, and why not further: `rtcast doctor --ice`.
struct ICEDoctor {
  /// The media plane as a cast or call would have it.
  let options: PeerLoop.Options
  let isJSON: Bool
  /// The finding of a hub elsewhere; nil: none was asked.
  var outside: OutsideFinding?

  /// For all servers to answer.
  private static let patience = 12

  /// Prints the results. Returns false if a requested server or route does not work.
  func run() async throws(CastFailure) -> Bool {
    let loop: PeerLoop
    do { loop = try PeerLoop(options) } catch { throw CastFailure(.unavailable, "\(error)") }
    defer { loop.stop() }
    let servers = options.iceServers.reduce(0) { $0 + $1.urls.count }
    if !isJSON, Terminal.isInteractive, servers > 0 {
      Terminal.showLive("Asking \(Figures.count(servers, "server")) …")
    }
    guard let report = await gather(loop) else { throw CastFailure(.software, "Gathering has ended too early.") }
    Terminal.showLive("")
    let isFixed = options.port != 0 || options.portRange != nil
    let findings = ICEFindings(report, port: loop.port, isPortFixed: isFixed)
    var checks = show("Addresses", findings.interfaceChecks)
    if !findings.servers.isEmpty { checks += show("STUN and TURN servers", findings.serverChecks) }
    checks += show("Candidates", findings.candidateChecks)
    checks += show("Network", [findings.mappingCheck, findings.firewallCheck])
    if let outside {
      let own = findings.addresses.filter(\.isOffered).map(\.ip)
      checks += show("From outside, by \(outside.hub)", outside.checks(ownAddresses: own))
    }
    checks += show("Connections between two ends on this machine", await connections(findings))
    return !checks.contains { $0.verdict == .fails }
  }

  private func gather(_ loop: PeerLoop) async -> GatheringReport? {
    for _ in 0..<Self.patience * 10 {
      guard let report = await loop.gatheringReport() else { return nil }
      if report.isComplete { return report }
      guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { break }
    }
    return await loop.gatheringReport()
  }

  /// By the shortest way, and by each relay that has answered.
  private func connections(_ findings: ICEFindings) async -> [Check] {
    var plain = options
    plain.port = 0
    plain.iceServers = []
    plain.iceTransportPolicy = .all
    var wanted = [ICEConnectionCheck(name: "direct", options: plain)]
    for server in options.iceServers {
      for url in server.urls where findings.servers.contains(where: { $0.url == url && $0.relayed != nil }) {
        var relayed = plain
        relayed.iceServers = [ICEServer([url], username: server.username, credential: server.credential)]
        relayed.iceTransportPolicy = .relay
        wanted.append(ICEConnectionCheck(name: url.description, options: relayed))
      }
    }
    if !isJSON, Terminal.isInteractive { Terminal.showLive("Connecting …") }
    var checks: [Check] = []
    for each in wanted { checks.append(await each.run()) }
    Terminal.showLive("")
    return checks
  }

  /// Prints checks and returns them.
  private func show(_ title: String, _ checks: [Check]) -> [Check] {
    if isJSON {
      for check in checks { Terminal.print(check.object.text) }
      return checks
    }
    if title != "Addresses" { Terminal.print("") }
    Terminal.print(title)
    let column = min(48, max(11, (checks.map(\.name.count).max() ?? 0) + 2))
    for check in checks { Terminal.print("  " + check.lines(column: column).replacing("\n", with: "\n  ")) }
    return checks
  }
}
