import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// One side of a test: an agent and what it told.
struct Side: ~Copyable {
  var agent: ICEAgent
  var events: [ICEEvent] = []
  var generator: SeededGenerator

  init(role: ICERole, seed: UInt64, configuration: ICEConfiguration = ICEConfiguration()) {
    generator = SeededGenerator(seed: seed)
    agent = ICEAgent(
      role: role, configuration: configuration, localCredentials: ICECredentials(using: &generator),
      tieBreaker: generator.next(), seed: generator.next())
  }
}

/// Two agents on an emulated network and virtual time.
struct AgentPair: ~Copyable {
  var a: Side
  var b: Side
  var network: NetworkEmulator
  var now = Timestamp.zero + .seconds(1)
  /// Which agents still have their deadlines served and their datagrams taken.
  var isBAlive = true
  /// B's port as A sees it: a NAT in front of B whose mapping changes with this. Old mappings are dead.
  var publicPortOfB: UInt16 = 5000
  /// The carriers of addresses that are not UDP ports.
  var carriers: [SocketAddress: Route.Kind] = [:]
  private var batch = DatagramBatch(capacity: 16 * 1024)

  static let addressA = IPAddress("10.0.0.1")!
  static let addressB = IPAddress("10.0.0.2")!

  init(
    seed: UInt64 = 1, roleA: ICERole = .controlling, roleB: ICERole = .controlled,
    conditions: NetworkConditions = .delayed(.milliseconds(10)), configuration: ICEConfiguration = ICEConfiguration()
  ) {
    a = Side(role: roleA, seed: seed &* 2, configuration: configuration)
    b = Side(role: roleB, seed: seed &* 2 &+ 1, configuration: configuration)
    network = NetworkEmulator(seed: seed, conditions: conditions)
  }

  static func hosts(_ addresses: [String], port: UInt16 = 5000) -> [ICECandidate] {
    ICECandidate.hosts(addresses: addresses.map { (IPAddress($0)!, 1) }, port: port)
  }

  /// Gathers one host address each, and exchanges credentials and candidates both ways.
  mutating func exchange(_ addressesA: [String] = ["10.0.0.1"], _ addressesB: [String] = ["10.0.0.2"]) {
    a.agent.addLocalCandidates(Self.hosts(addressesA), now: now)
    b.agent.addLocalCandidates(Self.hosts(addressesB), now: now)
    exchangeCredentials()
    exchangeCandidates()
  }

  mutating func exchangeCredentials() {
    a.agent.setRemote(credentials: b.agent.localCredentials, now: now)
    b.agent.setRemote(credentials: a.agent.localCredentials, now: now)
  }

  mutating func exchangeCandidates() {
    for candidate in b.agent.localCandidates { a.agent.addRemoteCandidate(candidate, now: now) }
    for candidate in a.agent.localCandidates { b.agent.addRemoteCandidate(candidate, now: now) }
  }

  /// Lets time pass until `end`, or until `condition` holds after some step.
  /// - Returns: the time that passed.
  @discardableResult
  mutating func run(for duration: TimeDelta, until condition: (borrowing AgentPair) -> Bool = { _ in false })
    -> TimeDelta
  {
    let start = now
    let end = now + duration
    serveDeadlines()
    while !condition(self) {
      guard let next = nextTime, next <= end else {
        now = end
        break
      }
      now = max(now, next)
      while let delivery = network.nextDelivery(by: now) { take(delivery) }
      serveDeadlines()
    }
    return now - start
  }

  var areConnected: Bool { a.agent.state == .connected && b.agent.state == .connected }

  /// Their selected routes are the two views of one way.
  var routesAgree: Bool {
    guard let a = a.agent.selectedRoute, let b = b.agent.selectedRoute else { return false }
    return a.local == b.remote && a.remote == b.local
  }

  private var nextTime: Timestamp? {
    [a.agent.nextDeadline, isBAlive ? b.agent.nextDeadline : nil, network.nextDeadline].compactMap { $0 }.min()
  }

  private mutating func take(_ delivery: NetworkEmulator.Delivery) {
    let bytes = delivery.bytes
    switch delivery.direction {
    case .bToA:
      var route = delivery.route
      if route.remote.port == 5000 { route.remote.port = publicPortOfB }
      route.kind = carriers[route.local] ?? route.kind
      a.agent.receive(bytes.span, route: route, now: now, into: &batch, events: &a.events)
      flush(.aToB)
    case .aToB:
      var route = delivery.route
      let isMapped = route.local.port == publicPortOfB
      guard isBAlive, isMapped || route.local.port != 5000 && route.local.port != 6000 else { return }
      if isMapped { route.local.port = 5000 }
      route.kind = carriers[route.local] ?? route.kind
      b.agent.receive(bytes.span, route: route, now: now, into: &batch, events: &b.events)
      flush(.bToA)
    }
  }

  /// A deadline may name the present, but only a bounded number of times: an agent that spins is caught here.
  private mutating func serveDeadlines() {
    var turns = 0
    while let next = a.agent.nextDeadline, next <= now {
      a.agent.deadlineReached(now: now, into: &batch, events: &a.events)
      flush(.aToB)
      turns += 1
      precondition(
        turns < 1_000, "agent a asks to be woken at once for ever: \(String(describing: a.agent.nextDeadline))")
    }
    turns = 0
    while isBAlive, let next = b.agent.nextDeadline, next <= now {
      b.agent.deadlineReached(now: now, into: &batch, events: &b.events)
      flush(.bToA)
      turns += 1
      precondition(
        turns < 1_000, "agent b asks to be woken at once for ever: \(String(describing: b.agent.nextDeadline))")
    }
  }

  private mutating func flush(_ direction: NetworkEmulator.Direction) {
    network.send(batch, direction: direction, now: now)
    batch.removeAll()
  }
}

extension NetworkConditions {
  static func lossy(_ loss: Double, delay: TimeDelta = .milliseconds(10)) -> NetworkConditions {
    var conditions = NetworkConditions.delayed(delay)
    conditions.loss = loss
    return conditions
  }
}
