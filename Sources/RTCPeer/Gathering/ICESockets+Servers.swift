import RTCDTLS
import RTCICE
import RTCNet
import RTCPrimitives

extension ICESockets {
  /// Replaces the servers. A server that is in use stays in use, and takes the new credentials when its present ones
  /// fail.
  func setServers(_ list: [ICEServer], now: Timestamp) {
    var former = servers
    servers = []
    var new: [ConfiguredServer] = []
    for entry in list {
      for url in entry.urls where !servers.contains(where: { $0.url == url }) {
        let (username, credential) = (entry.username ?? "", entry.credential ?? "")
        guard let index = former.firstIndex(where: { $0.url == url }) else {
          new.append(ConfiguredServer(url, username: username, credential: credential))
          servers.append(new[new.count - 1])
          continue
        }
        let server = former.remove(at: index)
        servers.append(server)
        guard server.username != username || server.credential != credential else { continue }
        (server.username, server.credential) = (username, credential)
        if server.isHealthy { tellCredentials(of: server, now) } else { new.append(server) }
      }
    }
    for server in former { withdraw(server, now) }
    for server in new { begin(server, now) }
    isUnsettled = true
    settle(now)
  }

  /// The present allocation continues; the next one uses these credentials.
  private func tellCredentials(of server: ConfiguredServer, _ now: Timestamp) {
    for (id, asked) in server.asked {
      let entry = entry(server, id, asked)
      table.write { batch in gatherer.add(entry, now: now, into: &batch, events: &events) }
    }
  }

  /// The network has changed: failed servers are tried again, and streams that lost their address are reopened.
  /// - Parameter all: the machine's addresses.
  func networkChanged(_ all: [InterfaceAddress], hasSlept: Bool, now: Timestamp) {
    setAddresses(all, now: now)
    var isWayNew = hasSlept
    for server in servers {
      server.resetDelay()
      switch server.phase {
      case .waiting, .stopped: begin(server, now)
      case .resolving: break
      case .connecting(let stream, _), .asked(let stream?):
        let local = stream.local?.ip
        if hasSlept || !all.contains(where: { $0.address == local && $0.isUp }) { begin(server, now) }
      case .asked(nil): if updateSources(of: server) { isWayNew = true }
      }
    }
    // A server that is reached from another address has no allocation for it: its answer says so.
    if isWayNew { use(now) { gatherer, batch, _ in gatherer.probe(now: now, into: &batch) } }
    settle(now)
  }

  /// - Returns: true when the kernel sends from another address than before.
  private func updateSources(of server: ConfiguredServer) -> Bool {
    var isOther = false
    for (id, asked) in server.asked {
      let source = NetworkInterfaces.source(towards: asked.route.remote)
      guard source != asked.source else { continue }
      server.asked[id]?.source = source
      isOther = isOther || source != nil
    }
    return isOther
  }

  // MARK: - Names

  /// Asks the server from the beginning.
  func begin(_ server: ConfiguredServer, _ now: Timestamp) {
    isUnsettled = true
    withdraw(server, now)
    server.attempt += 1
    guard server.url.scheme.isRelay || server.url.transport == .udp else {
      server.noteFailure("Only over UDP does a STUN server see the address that others need; use stun: or turns:.")
      return server.phase = .stopped
    }
    let proxy = server.url.transport == .tcp ? table.proxy(for: server.url.host) : nil
    let host = proxy?.host ?? server.url.host
    if let ip = IPAddress(host), !server.url.scheme.isSecure {
      return reach(server, at: [ip], through: proxy, nil, now)
    }
    server.phase = .resolving(until: now + Self.resolvingTimeout)
    let (attempt, loop, tls) = (server.attempt, table.loop, server.url.scheme.isSecure ? table.tls : nil)
    let position = ServerPosition(self, server)
    table.resolver.resolve(host) { answer in
      // The resolver's thread may wait for the certificates to be read, the loop's may not.
      let context = tls.map { tls in Result { () throws(TLSConfigurationError) in try tls.context() } }
      loop.post { position.resolved(answer, context, through: proxy, attempt) }
    }
  }

  fileprivate func resolved(
    _ server: ConfiguredServer, _ answer: NameAnswer, _ context: Result<TLSContext, TLSConfigurationError>?,
    through proxy: HTTPProxy?
  ) {
    let now = MonotonicClock.now()
    switch (answer, context) {
    case (.failed(let reason), _): fail(server, "Its name was not found: \(reason).", now)
    case (_, .failure(let error)): fail(server, "TLS cannot be set up: \(error).", now)
    case (.addresses(let ips), .success(let context)): reach(server, at: ips, through: proxy, context, now)
    case (.addresses(let ips), nil): reach(server, at: ips, through: proxy, nil, now)
    }
    settle(now)
  }

  /// The server was not reached; tries again later.
  private func fail(_ server: ConfiguredServer, _ sentence: String, at address: SocketAddress? = nil, _ now: Timestamp)
  {
    withdraw(server, now)
    isUnsettled = true
    server.noteFailure(sentence, at: address)
    server.phase = .waiting(until: now + server.takeDelay())
  }

  /// The time limit of an attempt has passed.
  func timeOut(_ server: ConfiguredServer, _ now: Timestamp) {
    switch server.phase {
    case .resolving: fail(server, "Its name was not found within 5 s.", now)
    case .connecting(let stream, _):
      close(stream)
      reachNext(server, "No connection within 5 s.", at: stream.target.address, now)
    case .waiting: begin(server, now)
    case .asked, .stopped: break
    }
  }

  // MARK: - Ways

  private func reach(
    _ server: ConfiguredServer, at ips: [IPAddress], through proxy: HTTPProxy?, _ tls: TLSContext?, _ now: Timestamp
  ) {
    let addresses = ips.map { SocketAddress(ip: $0, port: proxy?.port ?? server.url.port) }
    guard server.url.transport == .udp else {
      server.alternatives = addresses
      server.targets = { address in
        ServerStream.Target(
          address: address, host: server.url.host, port: server.url.port, proxy: proxy, tls: tls)
      }
      return reachNext(server, "It has no address.", at: nil, now)
    }
    let reachable = addresses.filter { $0.ip.isV4 ? hasIPv4 : hasIPv6 }
    guard !reachable.isEmpty else { return fail(server, "This port has not the IP version of its address.", now) }
    server.phase = .asked(nil)
    isUnsettled = true
    // The best of each version at once, the others when it fails.
    let first = [reachable.first { $0.ip.isV4 }, reachable.first { !$0.ip.isV4 }].compactMap { $0 }
    server.alternatives = reachable.filter { !first.contains($0) }
    for address in first {
      let unspecified: IPAddress = address.ip.isV4 ? .v4(0) : .v6(high: 0, low: 0, scope: 0)
      ask(
        server, Route(local: SocketAddress(ip: unspecified, port: port), remote: address, kind: carrier), .udp, now)
    }
  }

  /// Hands the server to the gatherer.
  private func ask(
    _ server: ConfiguredServer, _ route: Route, _ transport: CandidateGatherer.Server.Transport, _ now: Timestamp
  ) {
    var asked = ConfiguredServer.Asked(
      route: route, transport: transport, source: NetworkInterfaces.source(towards: route.remote))
    if server.url.scheme.isRelay {
      guard let relay = table.relayNumbers.take() else { return fail(server, "There are too many relays.", now) }
      asked.relay = relay
    }
    let id = nextServerID
    nextServerID += 1
    server.asked[id] = asked
    let entry = entry(server, id, asked)
    table.write { batch in gatherer.add(entry, now: now, into: &batch, events: &events) }
  }

  private func entry(
    _ server: ConfiguredServer, _ id: Int, _ asked: ConfiguredServer.Asked
  ) -> CandidateGatherer.Server {
    guard let relay = asked.relay else { return .stun(id: id, route: asked.route, transport: asked.transport) }
    return .turn(
      id: id, route: asked.route, transport: asked.transport, relay: relay, username: server.username,
      credential: server.credential)
  }

  /// Handles a failure of a server that the gatherer reports.
  func failed(_ server: ConfiguredServer, _ id: Int, _ failure: ICEServerFailure, _ now: Timestamp) {
    let address = server.asked[id]?.route.remote
    server.noteFailure(failure.description, at: address)
    if case .asked(let stream?) = server.phase {
      if case .redirected(let other) = failure {
        server.alternatives = [other]
        close(stream)
        return reachNext(server, failure.description, at: address, now)
      }
      guard failure.isFinal else { return fail(server, failure.description, at: address, now) }
      withdraw(server, now)
      server.phase = .stopped
    } else if case .noAnswer = failure,
      let next = server.alternatives.firstIndex(where: { $0.ip.isV4 == address?.ip.isV4 })
    {
      drop(id, of: server, now)
      let other = server.alternatives.remove(at: next)
      let unspecified: IPAddress = other.ip.isV4 ? .v4(0) : .v6(high: 0, low: 0, scope: 0)
      ask(server, Route(local: SocketAddress(ip: unspecified, port: port), remote: other, kind: carrier), .udp, now)
    }
    // Otherwise the gatherer tries again by itself where useful. A server that has lost the allocation is alive, and is
    // asked at once.
    if case .allocationLost = failure, now - server.lostAt >= Self.forgettingInterval {
      server.lostAt = now
      table.write { batch in gatherer.probe(now: now, into: &batch) }
    }
  }

  /// The gatherer no longer has the server, and its stream is closed.
  func withdraw(_ server: ConfiguredServer, _ now: Timestamp) {
    for id in server.asked.keys { drop(id, of: server, now) }
    letGo(of: server)
  }

  private func drop(_ id: Int, of server: ConfiguredServer, _ now: Timestamp) {
    guard let asked = server.asked.removeValue(forKey: id) else { return }
    if let relay = asked.relay { table.relayNumbers.giveBack(relay) }
    table.write { batch in gatherer.remove(server: id, now: now, into: &batch, events: &events) }
  }

  func letGo(of server: ConfiguredServer) {
    if let stream = server.stream { close(stream) }
    for asked in server.asked.values { if let relay = asked.relay { table.relayNumbers.giveBack(relay) } }
    server.asked = [:]
    server.phase = .stopped
  }

  private func close(_ stream: ServerStream) {
    stream.close()
    table.streams.remove(stream.number)
  }

  private static let resolvingTimeout = TimeDelta.seconds(5)
  private static let forgettingInterval = TimeDelta.seconds(10)
  private static let connectingTimeout = TimeDelta.seconds(5)

  // MARK: - Streams

  /// Opens a stream to the next address that was not tried.
  private func reachNext(
    _ server: ConfiguredServer, _ reason: String, at address: SocketAddress?, _ now: Timestamp
  ) {
    guard let makeTarget = server.targets, !server.alternatives.isEmpty else {
      return fail(server, reason, at: address, now)
    }
    withdraw(server, now)
    let target = makeTarget(server.alternatives.removeFirst())
    guard let number = table.streams.reserve() else { return fail(server, "There are too many streams.", now) }
    do throws(SystemError) {
      let stream = try ServerStream(number, to: target, on: table.loop, delegate: self)
      table.streams.insert(stream, number, of: self)
      isUnsettled = true
      server.phase = .connecting(stream, until: now + Self.connectingTimeout)
    } catch {
      table.streams.remove(number)
      reachNext(server, error.description, at: target.address, now)
    }
  }
}

extension ICESockets: ServerStream.Delegate {
  private func server(of stream: ServerStream) -> ConfiguredServer? { servers.first { $0.stream === stream } }

  func opened(_ stream: ServerStream, now: Timestamp) {
    guard let server = server(of: stream) else { return }
    server.phase = .asked(stream)
    isUnsettled = true
    ask(server, stream.route, server.url.scheme.isSecure ? .tls : .tcp, now)
    settle(now)
  }

  func received(_ message: inout MutableSpan<UInt8>, from stream: ServerStream, now: Timestamp) {
    table.datagram(&message, route: stream.route, now: now)
  }

  func ended(_ stream: ServerStream, _ reason: String, now: Timestamp) {
    table.streams.remove(stream.number)
    guard let server = server(of: stream) else { return }
    if case .connecting = server.phase {
      reachNext(server, reason, at: stream.target.address, now)
    } else {
      fail(server, reason, at: stream.target.address, now)
    }
    settle(now)
  }
}

/// The index of a server, for an answer on another thread.
private final class ServerPosition: @unchecked Sendable {
  // Why unchecked: made and read on the loop's thread alone; between, it only travels.
  private weak var sockets: ICESockets?
  private weak var server: ConfiguredServer?

  init(_ sockets: ICESockets, _ server: ConfiguredServer) { (self.sockets, self.server) = (sockets, server) }

  func resolved(
    _ answer: NameAnswer, _ context: Result<TLSContext, TLSConfigurationError>?, through proxy: HTTPProxy?,
    _ attempt: Int
  ) {
    // Late answers are of another attempt.
    guard let sockets, let server, server.attempt == attempt, case .resolving = server.phase else { return }
    sockets.resolved(server, answer, context, through: proxy)
  }
}
