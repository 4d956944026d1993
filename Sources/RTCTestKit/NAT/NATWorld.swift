import RTCICE
package import RTCPrimitives

/// Hosts with gatherers, NATs, and STUN and TURN servers on the public side, on virtual time.
package final class NATWorld {
  private struct StreamMessage {
    let host: Int
    let number: UInt16
    let server: Int
    let isToServer: Bool
    let bytes: [UInt8]
  }

  /// A STUN and TURN server with its address, for UDP and streams alike.
  package struct PublicServer {
    /// Its address.
    package let address: SocketAddress
    /// The server itself.
    package var emulator: TURNServerEmulator
  }

  /// The network of all packets.
  package var internet: VirtualInternet
  /// The servers, in the order they were added.
  package var servers: [PublicServer] = []
  /// The hosts, in the order they were added.
  package private(set) var hosts: [GatheringHost] = []
  /// The time that all are given.
  package private(set) var now: Timestamp
  /// The owner's next deadline, and its action.
  package var ownDeadline: () -> Timestamp = { .distantFuture }
  package var serveOwnDeadline: () -> Void = {}
  /// Changes the servers' datagrams to their clients.
  package var tamper: ((inout [UInt8]) -> Void)?
  private var onStreams = DeliveryQueue<StreamMessage>()

  /// - Parameter now: the time at the start.
  package init(
    seed: UInt64 = 1, conditions: NetworkConditions = .delayed(.milliseconds(10)),
    now: Timestamp = .zero + .seconds(1_000)
  ) {
    internet = VirtualInternet(seed: seed, conditions: conditions)
    self.now = now
  }

  // MARK: - Making it

  /// A server at 198.51.100.*n*:3478, with its relayed addresses at the same IP unless the options say otherwise.
  @discardableResult
  package func addServer(_ change: (inout TURNServerEmulator.Options) -> Void = { _ in }) -> Int {
    let ip = IPAddress.v4(0xC633_6401 + UInt32(servers.count))
    var options = TURNServerEmulator.Options()
    options.relayIPs = [ip]
    change(&options)
    servers.append(
      PublicServer(address: SocketAddress(ip: ip, port: 3_478), emulator: TURNServerEmulator(options)))
    return servers.count - 1
  }

  /// A NAT with the external address 203.0.113.*n*.
  @discardableResult
  package func addGateway(_ kind: NATKind) -> Int {
    let number = internet.gateways.count
    internet.gateways.append(
      NATGateway(kind, externalIP: .v4(0xCB00_7101 + UInt32(number)), seed: UInt64(number) + 7))
    return number
  }

  /// A host with the address 10.0.*n*.2:5000, or 192.0.2.*n* where it is behind no NAT, and a gatherer of that base.
  @discardableResult
  package func addHost(behind gateway: Int? = nil, seed: UInt64 = 1) -> GatheringHost {
    let number = UInt32(hosts.count) + 1
    let ip = IPAddress.v4(gateway == nil ? 0xC000_0200 + number : 0x0A00_0002 + number << 8)
    if let gateway { internet.place(ip, behind: gateway) }
    let host = GatheringHost(
      index: hosts.count, address: SocketAddress(ip: ip, port: 5_000), seed: seed &* 31 &+ UInt64(number), world: self)
    hosts.append(host)
    host.setBases([CandidateGatherer.Base(address: host.address)])
    return host
  }

  // MARK: - Time

  /// Lets time pass until `duration` is over or, after some step, `condition` holds.
  /// - Returns: the time that passed.
  @discardableResult
  package func run(for duration: TimeDelta, until condition: () -> Bool = { false }) -> TimeDelta {
    let start = now
    let end = now + duration
    serveDeadlines()
    while !condition() {
      let next = nextTime
      guard next <= end else {
        now = end
        break
      }
      now = max(now, next)
      deliver()
      serveDeadlines()
    }
    return now - start
  }

  private var nextTime: Timestamp {
    let network = min(internet.nextDeadline ?? .distantFuture, onStreams.firstTime ?? .distantFuture)
    return hosts.reduce(min(network, ownDeadline())) { min($0, $1.gatherer.nextDeadline) }
  }

  private func serveDeadlines() {
    for host in hosts {
      var turns = 0
      while host.gatherer.nextDeadline <= now {
        host.deadlineReached()
        turns += 1
        precondition(turns < 100, "the gatherer asks to be woken at once for ever")
      }
    }
    if ownDeadline() <= now { serveOwnDeadline() }
  }

  // MARK: - Datagrams

  /// Sends the datagrams of a host's step.
  func send(_ batch: borrowing DatagramBatch, from host: GatheringHost) {
    for index in 0..<batch.count {
      let route = batch.entries[index].route
      let bytes = [UInt8](copying: batch.datagram(index))
      switch route.kind {
      case .udp:
        let local = route.local.ip.isUnspecified ? host.address : route.local
        internet.send(bytes, from: local, to: route.remote, now: now)
      case .stream(let number):
        guard let server = servers.firstIndex(where: { $0.address == route.remote }) else { continue }
        onStreams.insert(
          StreamMessage(host: host.index, number: number, server: server, isToServer: true, bytes: bytes),
          at: now + internet.conditions.delay)
      case .relay: preconditionFailure("a relay's datagram was not encapsulated")
      }
    }
  }

  private func deliver() {
    while let delivery = internet.nextDelivery(by: now) {
      if let host = hosts.first(where: { $0.address.ip == delivery.to.ip }) {
        host.receive(delivery.bytes, route: Route(local: delivery.to, remote: delivery.from))
      } else if let server = servers.firstIndex(where: { $0.address == delivery.to }) {
        let client = TURNServerEmulator.Client(address: delivery.from)
        take(servers[server].emulator.receive(delivery.bytes, from: client, now: now), of: server)
      } else if let server = servers.firstIndex(where: { $0.emulator.options.relayIPs.contains(delivery.to.ip) }) {
        let outputs = servers[server].emulator.receive(
          delivery.bytes, at: delivery.to, from: delivery.from, now: now)
        take(outputs, of: server)
      }
    }
    while let time = onStreams.firstTime, time <= now { deliverOnStream(onStreams.removeFirst()) }
  }

  private func deliverOnStream(_ message: StreamMessage) {
    let server = servers[message.server]
    if message.isToServer {
      let client = TURNServerEmulator.Client(
        address: SocketAddress(ip: hosts[message.host].address.ip, port: 40_000 + message.number), isStream: true)
      take(servers[message.server].emulator.receive(message.bytes, from: client, now: now), of: message.server)
    } else {
      let host = hosts[message.host]
      host.receive(
        message.bytes, route: Route(local: host.address, remote: server.address, kind: .stream(message.number)))
    }
  }

  private func take(_ outputs: [TURNServerEmulator.Output], of server: Int) {
    for output in outputs {
      var output = output
      if let tamper, case .toClient(let client, var bytes) = output {
        tamper(&bytes)
        output = .toClient(client, bytes)
      }
      switch output {
      case .toClient(let client, let bytes) where client.isStream:
        guard let host = hosts.first(where: { $0.address.ip == client.address.ip }) else { continue }
        onStreams.insert(
          StreamMessage(
            host: host.index, number: client.address.port - 40_000, server: server, isToServer: false, bytes: bytes),
          at: now + internet.conditions.delay)
      case .toClient(let client, let bytes):
        internet.send(bytes, from: servers[server].address, to: client.address, now: now)
      case .toPeer(let relayed, let peer, let bytes): internet.send(bytes, from: relayed, to: peer, now: now)
      }
    }
  }
}
