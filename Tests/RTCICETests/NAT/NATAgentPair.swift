import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Two agents with gatherers, each behind a NAT or none, and one server for STUN and TURN.
final class NATAgentPair {
  /// Where the two are.
  struct Topology: Hashable {
    /// Nil: a public address.
    var a: NATKind?
    var b: NATKind?
    /// Both are behind the NAT of `a`; `isolated`: they reach each other by its outside only.
    var site = Site.apart

    enum Site: Hashable {
      case apart
      case shared
      case isolated
    }
  }

  let world: NATWorld
  private(set) var a: Side
  private(set) var b: Side
  private var batch = DatagramBatch(capacity: 16 * 1024)
  /// Received datagrams that are not STUN, by side.
  private(set) var media: [[UInt8]] = [[], []]

  init(_ topology: Topology, seed: UInt64 = 1, conditions: NetworkConditions = .delayed(.milliseconds(10))) {
    let world = NATWorld(seed: seed, conditions: conditions)
    self.world = world
    a = Side(role: .controlling, seed: seed &* 2)
    b = Side(role: .controlled, seed: seed &* 2 &+ 1)
    world.addServer()
    let first = topology.a.map { world.addGateway($0) }
    let second = topology.site == .apart ? topology.b.map { world.addGateway($0) } : first
    world.internet.isolatesHosts = topology.site == .isolated
    for (index, gateway) in [first, second].enumerated() {
      let host = world.addHost(behind: gateway, seed: seed &+ UInt64(index))
      host.addSTUN()
      host.addTURN()
      host.addTURN(transport: .tcp)
    }
    attach()
  }

  private func attach() {
    for (index, host) in world.hosts.enumerated() {
      host.taker = { [unowned self] bytes, route in take(bytes, route, at: index) }
    }
    world.ownDeadline = { [unowned self] in
      min(a.agent.nextDeadline ?? .distantFuture, b.agent.nextDeadline ?? .distantFuture)
    }
    world.serveOwnDeadline = { [unowned self] in serveDeadlines() }
  }

  /// Waits for the gatherers, a few seconds at most, exchanges what they have, and lets time pass until both are connected.
  /// - Returns: the time since the exchange.
  func connect(within limit: TimeDelta = .seconds(10)) -> TimeDelta {
    world.run(for: .seconds(5)) {
      self.world.hosts.allSatisfy { host in
        host.gatherer.isComplete || host.candidates(.relayed).count == 2 && !host.candidates(.serverReflexive).isEmpty
      }
    }
    a.agent.addLocalCandidates(world.hosts[0].gatherer.candidates, now: world.now)
    b.agent.addLocalCandidates(world.hosts[1].gatherer.candidates, now: world.now)
    a.agent.setRemote(credentials: b.agent.localCredentials, now: world.now)
    b.agent.setRemote(credentials: a.agent.localCredentials, now: world.now)
    for candidate in b.agent.localCandidates { a.agent.addRemoteCandidate(candidate, now: world.now) }
    for candidate in a.agent.localCandidates { b.agent.addRemoteCandidate(candidate, now: world.now) }
    return world.run(for: limit) { self.areConnected }
  }

  var areConnected: Bool { a.agent.state == .connected && b.agent.state == .connected }

  /// How media goes, as A sees it; nil when it does not.
  var path: NATPath? {
    guard let route = a.agent.selectedRoute, let other = b.agent.selectedRoute else { return nil }
    let server = world.servers[0].address.ip
    for route in [route, other] {
      if case .relay = route.kind { return .relayed }
      if route.remote.ip == server { return .relayed }
    }
    return route.remote == world.hosts[1].address && other.remote == world.hosts[0].address ? .host : .translated
  }

  /// Sends a media packet each way along the selected routes.
  func exchangeMedia() {
    media = [[], []]
    for (index, route) in [a.agent.selectedRoute, b.agent.selectedRoute].enumerated() {
      if let route { world.hosts[index].send([0x80, UInt8(index)], by: route) }
    }
    world.run(for: .seconds(1)) { self.media.allSatisfy { !$0.isEmpty } }
  }

  private func take(_ bytes: [UInt8], _ route: Route, at index: Int) {
    guard let first = bytes.first, first < 4 else { return media[index] += bytes }
    var news: [ICEEvent] = []
    if index == 0 {
      a.agent.receive(bytes.span, route: route, now: world.now, into: &batch, events: &news)
      a.events += news
    } else {
      b.agent.receive(bytes.span, route: route, now: world.now, into: &batch, events: &news)
      b.events += news
    }
    world.hosts[index].send(&batch)
  }

  private func serveDeadlines() {
    var turns = 0
    while let next = a.agent.nextDeadline, next <= world.now {
      var news: [ICEEvent] = []
      a.agent.deadlineReached(now: world.now, into: &batch, events: &news)
      a.events += news
      world.hosts[0].send(&batch)
      turns += 1
      precondition(turns < 1_000, "agent a asks to be woken at once for ever")
    }
    while let next = b.agent.nextDeadline, next <= world.now {
      var news: [ICEEvent] = []
      b.agent.deadlineReached(now: world.now, into: &batch, events: &news)
      b.events += news
      world.hosts[1].send(&batch)
      turns += 1
      precondition(turns < 2_000, "agent b asks to be woken at once for ever")
    }
  }
}
