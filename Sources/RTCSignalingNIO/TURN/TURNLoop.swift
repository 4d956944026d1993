import Glibc
import RTCNet
import RTCPrimitives
import RTCTURN

/// The stream of a client, by TCP or TLS, as the server writes to it.
protocol TURNStreamSink: AnyObject {
  /// Sends bytes, all or none of them; they are lost when the stream is full.
  func send(_ bytes: Span<UInt8>)
  /// Ends the stream. No call of the loop follows.
  func close()
}

/// The TURN server with its sockets, on the loop's thread. Datagrams come in batches, and leave in batches at the end of a turn.
final class TURNLoop: LoopHandler {
  private struct Stream {
    let route: Route
    let sink: any TURNStreamSink
    var deframer = StreamDeframer(.turn)
    /// When it is closed unless it has an allocation.
    var idleEnd: Timestamp
  }

  /// The time in which the client of a stream must make an allocation, or have one.
  private static let idleLimit = TimeDelta.seconds(30)
  /// A port is looked for this often before an allocation is refused.
  private static let portTries = 64
  /// Bytes of a turn that wait to be sent; datagrams beyond them are lost, as in a queue that is full.
  private static let outboxLimit = 8 << 20

  private let loop: EventLoop
  private let options: TURNHost.Options
  private var server: TURNServer
  private var out = TURNServerOutbox()
  private var streams: [UInt16: Stream] = [:]
  private var nextStream: UInt16 = 0
  private var listeners: [TCPListener] = []
  private var framed: [UInt8] = []
  /// Ports to close at the end of the turn: neither is anything sent nor closed while a port receives.
  private var closing: [Route.Kind] = []
  private var sweepAt = Timestamp.distantFuture
  private var clockReadAt = Timestamp.zero - .seconds(10)

  init(_ loop: EventLoop, _ options: TURNHost.Options) {
    (self.loop, self.options) = (loop, options)
    var generator = SystemRandomNumberGenerator()
    server = TURNServer(
      options.configuration(), nonceKey: (0..<20).map { _ in UInt8.random(in: 0...255, using: &generator) })
    addressesChanged()
    listen()
  }

  // MARK: - LoopHandler

  func datagram(_ bytes: inout MutableSpan<UInt8>, route: Route, now: Timestamp) {
    guard out.datagrams.byteCount < Self.outboxLimit else { return server.countFullQueue() }
    if route.kind == .udp(port: 0) {
      readClock(now)
      server.receive(bytes.span, from: route, now: now, into: &out)
    } else {
      server.receive(bytes.span, at: route.kind, from: route.remote, now: now, into: &out)
    }
    settle(now)
  }

  func deadlineReached(now: Timestamp) {
    server.expire(now: now, into: &out)
    settle(now)
    if sweepAt <= now { closeIdleStreams(now) }
  }

  func endOfBatch(now: Timestamp) {
    flush()
    for kind in closing { loop.remove(kind) }
    closing.removeAll(keepingCapacity: true)
  }

  var nextDeadline: Timestamp { min(server.nextDeadline, sweepAt) }

  func loopEnded() {
    for stream in streams.values { stream.sink.close() }
    streams = [:]
    for listener in listeners { listener.close() }
    listeners = []
  }

  // MARK: - From outside

  var counters: TURNServerCounters { server.counters }

  func open(port: UInt16) { server.configuration.openPorts.insert(port) }

  func addressesChanged() {
    guard let all = try? NetworkInterfaces.addresses() else { return }
    server.configuration.ownIPs = Set(all.map(\.address))
    var found: [IPAddress] = options.address.map { $0.isUnspecified ? [] : [$0] } ?? []
    found += NetworkInterfaces.hostCandidates(from: all).filter { !$0.isLoopback && !$0.isLinkLocal }
    let relayIPs = [found.first { $0.isV4 }, found.first { !$0.isV4 }].compactMap(\.self)
    server.configuration.relayIPs = relayIPs
    var outside: [IPAddress: IPAddress] = [:]
    for ip in options.outside where !server.configuration.ownIPs.contains(ip) {
      for own in server.configuration.ownIPs where own.isV4 == ip.isV4 { outside[own] = ip }
    }
    // Peers of this machine's allocations are found by their addresses outside, so none may change while it is in use.
    if server.counters.allocations == 0 { server.configuration.outside = outside }
  }

  // MARK: - What the server wants

  private func readClock(_ now: Timestamp) {
    guard now - clockReadAt >= .seconds(1) else { return }
    clockReadAt = now
    server.unixTime = WallClock.now() / 1_000_000_000
  }

  private func settle(_ now: Timestamp) {
    while !out.actions.isEmpty {
      let actions = out.actions
      out.actions.removeAll()
      for action in actions {
        switch action {
        case .open(let number, let ips, let isEven):
          server.opened(number, openRelays(at: ips, isEven: isEven), now: now, into: &out)
        case .close(let kind): closing.append(kind)
        }
      }
    }
  }

  private func flush() {
    guard !out.datagrams.isEmpty else { return }
    loop.send(out.datagrams)
    if !streams.isEmpty {
      for index in out.datagrams.entries.indices {
        guard case .stream(let number) = out.datagrams.entries[index].route.kind else { continue }
        framed.removeAll(keepingCapacity: true)
        StreamFraming.turn.append(out.datagrams.datagram(index), to: &framed)
        streams[number]?.sink.send(framed.span)
      }
    }
    out.datagrams.removeAll()
  }

  /// A port at each address, of the same number where that is free; none if there is none at one of them.
  private func openRelays(at ips: [IPAddress], isEven: Bool) -> [TURNRelay] {
    var relays: [TURNRelay] = []
    for ip in ips {
      guard let relay = openRelay(at: ip, isEven: isEven) else {
        for relay in relays { loop.remove(relay.kind) }
        return []
      }
      relays.append(relay)
    }
    return relays
  }

  private func openRelay(at ip: IPAddress, isEven: Bool) -> TURNRelay? {
    for _ in 0..<Self.portTries {
      var port = UInt16.random(in: options.relayPorts)
      if isEven { port &= ~1 }
      guard options.relayPorts.contains(port), port > 0 else { continue }
      var udp = UDPPort.Options(port: port, address: ip)
      udp.receiveBufferSize = 1 << 20
      udp.sendBufferSize = 1 << 20
      do throws(SystemError) {
        return TURNRelay(kind: try loop.add(UDPPort(udp)), local: SocketAddress(ip: ip, port: port))
      } catch {
        if error.errno == EADDRINUSE { continue }
        return nil
      }
    }
    return nil
  }

  // MARK: - Streams

  /// Opens the TCP port of the same number. Without it, clients come by UDP, or by the port of the hub.
  private func listen() {
    let ips =
      options.address.map { [$0] }
      ?? [loop.hasIPv4 ? IPAddress.v4(0) : nil, loop.hasIPv6 ? .v6(high: 0, low: 0, scope: 0) : nil].compactMap(\.self)
    for ip in ips {
      do throws(SystemError) {
        listeners.append(
          try TCPListener(SocketAddress(ip: ip, port: loop.port), on: loop) { [unowned self] in accept($0, now: $1) })
      } catch {
        options.onNotice?("Clients do not reach the TURN server by TCP. \(error)")
      }
    }
  }

  private func accept(_ connection: TCPConnection, now: Timestamp) {
    guard let local = connection.local else { return connection.close() }
    let client = TCPClient(connection, self)
    guard let number = openStream(from: connection.remote, at: local, client) else { return connection.close() }
    client.number = number
    connection.setDelegate(client)
  }

  /// - Returns: the number of the stream; nil: there are as many as there may be allocations, or this network has its share.
  func openStream(from remote: SocketAddress, at local: SocketAddress, _ sink: any TURNStreamSink) -> UInt16? {
    let limits = server.configuration.limits
    let remote = SocketAddress(ip: remote.ip.unmapped, port: remote.port)
    let network = ClientNetwork(remote.ip)
    guard streams.count < min(2 * limits.allocations, Int(UInt16.max)),
      network.isLoopback
        || streams.values.count(where: { ClientNetwork($0.route.remote.ip) == network }) < limits.allocationsPerNetwork
    else { return nil }
    while streams[nextStream] != nil { nextStream &+= 1 }
    let number = nextStream
    nextStream &+= 1
    let now = MonotonicClock.now()
    streams[number] = Stream(
      route: Route(
        local: SocketAddress(ip: local.ip.unmapped, port: local.port), remote: remote, kind: .stream(number)),
      sink: sink, idleEnd: now + Self.idleLimit)
    sweepAt = min(sweepAt, now + Self.idleLimit)
    return number
  }

  func received(_ bytes: Span<UInt8>, on number: UInt16, now: Timestamp) {
    // The stream is taken out so that the messages in it can be answered by it.
    guard var deframer = streams[number]?.deframer, let route = streams[number]?.route else { return }
    streams[number]?.deframer = StreamDeframer(.turn)
    readClock(now)
    do throws(StreamFramingError) {
      try deframer.receive(bytes) { message in
        server.receive(message.span, from: route, now: now, into: &out)
        settle(now)
      }
    } catch {
      return closeStream(number)
    }
    streams[number]?.deframer = deframer
  }

  /// The client or its connection has gone.
  func streamEnded(_ number: UInt16) {
    guard let stream = streams.removeValue(forKey: number) else { return }
    server.ended(stream.route, into: &out)
    settle(MonotonicClock.now())
  }

  private func closeStream(_ number: UInt16) {
    let sink = streams[number]?.sink
    streamEnded(number)
    sink?.close()
  }

  private func closeIdleStreams(_ now: Timestamp) {
    sweepAt = .distantFuture
    for (number, stream) in streams {
      if server.hasAllocation(stream.route, now: now) {
        streams[number]?.idleEnd = now + Self.idleLimit
        sweepAt = min(sweepAt, now + Self.idleLimit)
      } else if stream.idleEnd <= now {
        closeStream(number)
      } else {
        sweepAt = min(sweepAt, stream.idleEnd)
      }
    }
  }
}

/// A client by TCP.
private final class TCPClient: TURNStreamSink, TCPConnectionDelegate {
  private let connection: TCPConnection
  private unowned let loop: TURNLoop
  var number: UInt16?

  init(_ connection: TCPConnection, _ loop: TURNLoop) { (self.connection, self.loop) = (connection, loop) }

  func send(_ bytes: Span<UInt8>) { _ = connection.send(bytes) }
  func close() { connection.close() }

  func connected(_ connection: TCPConnection, now: Timestamp) {}

  func received(_ bytes: Span<UInt8>, from connection: TCPConnection, now: Timestamp) {
    if let number { loop.received(bytes, on: number, now: now) }
  }

  func ended(_ connection: TCPConnection, _ error: SystemError?, now: Timestamp) {
    if let number { loop.streamEnded(number) }
  }
}
