import RTCICE
import RTCPrimitives
import RTCWire

/// A gatherer whose server, clock and peers are controlled by the input: a list of steps, the kind first, then its
/// values. The server knows the password, so its hand-written messages can be authentic. Each of its messages causes at
/// most a few datagrams, tables stay bounded, delivered ranges lie within the datagram, and an idle gatherer sends
/// little.
public func fuzzGatherer(_ bytes: Span<UInt8>) {
  var reader = ByteReader(bytes)
  let flags = reader.readUInt8() ?? 0
  var model = GathererModel(isStream: flags & 1 != 0)
  var steps = 0
  while steps < 300, let kind = reader.readUInt8() {
    model.run(kind, &reader)
    steps += 1
  }
  model.idle()
}

private struct GathererModel: ~Copyable {
  /// A request of the gatherer's that may be answered.
  private struct Request {
    let id: STUNTransactionID
    let method: STUNMethod
    let route: Route
  }

  private static let local = SocketAddress(ip: .v4(0x0A00_0001), port: 5_000)
  private static let server = SocketAddress(ip: .v4(0xC633_6401), port: 3_478)
  private static let addresses =
    [
      SocketAddress(ip: .v4(0xC633_6402), port: 49_152), SocketAddress(ip: .v4(0xCB00_7105), port: 20_000), local,
      server,
      SocketAddress(ip: .loopbackV4, port: 9), SocketAddress(ip: .v4(0), port: 9),
      SocketAddress(ip: .v4(0xE000_0001), port: 9),
      SocketAddress(ip: .v4(0xA9FE_A9FE), port: 80), SocketAddress(ip: .v4(0xC633_6403), port: 0),
      SocketAddress(ip: .v6(high: 0x2001_0DB8 << 32, low: 7, scope: 0), port: 9),
      SocketAddress(ip: .loopbackV6, port: 9),
    ] + (1...5).map { SocketAddress(ip: .v4(0x0B00_0000 + $0), port: 7) }
  private static let codes: [UInt16] = [300, 400, 401, 403, 420, 437, 438, 440, 441, 442, 443, 486, 500, 508, 699, 402]

  private var gatherer = CandidateGatherer(seed: 5)
  private var now = Timestamp.zero + .seconds(1)
  private var batch = DatagramBatch(capacity: 64 * 1024)
  private var events: [CandidateGatherer.Event] = []
  private var requests: [Request] = []
  private var hasRelay = true
  private let route: Route
  private let key: STUNIntegrityKey

  init(isStream: Bool) {
    route = Route(
      local: SocketAddress(ip: .v4(0), port: 5_000), remote: Self.server, kind: isStream ? .stream(3) : .udp(port: 0))
    key = STUNIntegrityKey(
      username: Array("user".utf8).span, realm: Array("realm".utf8).span, password: Array("secret".utf8).span)
    gatherer.setBases([.init(address: Self.local)], now: now, into: &batch, events: &events)
    gatherer.add(
      .turn(
        id: 1, route: route, transport: isStream ? .tcp : .udp, relay: 4, username: "user", credential: "secret"),
      now: now, into: &batch, events: &events)
    gatherer.add(.stun(id: 2, route: route), now: now, into: &batch, events: &events)
    take(limit: 4)
  }

  // MARK: Steps

  mutating func run(_ kind: UInt8, _ reader: inout ByteReader) {
    switch kind % 12 {
    case 0: receive(takeBytes(&reader))
    case 1, 2, 3: respond(&reader)
    case 4: indicate(&reader)
    case 5, 6: send(&reader)
    case 7: pass(.milliseconds(Int64(reader.readUInt8() ?? 1)))
    case 8: pass(.seconds(Int64(reader.readUInt8() ?? 1)))
    case 9:
      gatherer.probe(now: now, into: &batch)
      take(limit: 4)
    case 10:
      let base = Self.addresses[Int(reader.readUInt8() ?? 0) % Self.addresses.count]
      gatherer.setBases([.init(address: base)], now: now, into: &batch, events: &events)
      take(limit: 4)
    default: addOrRemove(reader.readUInt8() ?? 0)
    }
    check()
  }

  /// The server is silent: the rest continues with little traffic.
  mutating func idle() {
    requests = []
    var sent = 0
    let end = now + .seconds(7_200)
    while gatherer.nextDeadline <= end {
      now = max(now, gatherer.nextDeadline)
      gatherer.deadlineReached(now: now, into: &batch, events: &events)
      sent += batch.count
      batch.removeAll()
      events.removeAll()
      precondition(sent < 5_000, "an idle gatherer sends without end")
    }
    gatherer.close(into: &batch, now: now)
    precondition(gatherer.nextDeadline == .distantFuture)
  }

  private mutating func pass(_ time: TimeDelta) {
    let end = now + time
    var turns = 0
    while gatherer.nextDeadline <= end {
      turns = gatherer.nextDeadline <= now ? turns + 1 : 0
      now = max(now, gatherer.nextDeadline)
      precondition(turns < 100, "the gatherer asks to be woken at once for ever")
      gatherer.deadlineReached(now: now, into: &batch, events: &events)
      take(limit: 1_000)
    }
    now = end
  }

  private mutating func addOrRemove(_ choice: UInt8) {
    if choice & 1 == 0 {
      if choice >> 1 & 1 == 0 { hasRelay = false }
      gatherer.remove(server: 1 + Int(choice >> 1 & 1), now: now, into: &batch, events: &events)
    } else {
      hasRelay = true
      gatherer.add(
        .turn(
          id: 1, route: route, transport: route.kind == .stream(3) ? .tcp : .udp, relay: 4, username: "user",
          credential: choice & 2 == 0 ? "secret" : "other"), now: now, into: &batch, events: &events)
    }
    take(limit: 8)
  }

  // MARK: Datagrams of ours

  private mutating func send(_ reader: inout ByteReader) {
    let choice = reader.readUInt8() ?? 0
    var peer = Self.addresses[Int(choice & 15) % Self.addresses.count]
    if choice & 0x80 != 0 { peer.port = UInt16(choice) }
    let datagram: [UInt8] = [choice & 0x40 == 0 ? 0x80 : 0, 1, 2, 3]
    let count = 1 + Int(choice >> 4 & 3)
    for _ in 0..<count {
      batch.append(datagram.span, to: Route(local: Self.addresses[0], remote: peer, kind: .relay(4)))
    }
    gatherer.encapsulate(&batch, from: 0, now: now)
    guard hasRelay else {
      precondition(batch.count == count, "another gatherer's datagrams are left alone")
      return batch.removeAll()
    }
    for index in 0..<batch.count { precondition(batch.entries[index].route.kind == route.kind) }
    take(limit: count + 2)
  }

  // MARK: Messages of the server's

  /// The answer to a request that is remembered, right in some things and wrong in others.
  private mutating func respond(_ reader: inout ByteReader) {
    let flags = reader.readUInt8() ?? 0
    let choice = reader.readUInt8() ?? 0
    guard !requests.isEmpty else { return }
    let index = Int(flags >> 4) % requests.count
    let request = flags & 8 == 0 ? requests.remove(at: index) : requests[index]
    let isError = flags & 1 != 0
    let address = Self.addresses[Int(choice & 15) % Self.addresses.count]
    let code = STUNErrorCode(Self.codes[Int(choice >> 4)])
    receive(
      write(isError ? .error : .success, request.method, request.id, isAuthentic: flags & 2 == 0) { writer in
        if isError {
          writer.write(code)
          writer.write(.realm, Array((flags & 4 == 0 ? "realm" : "other").utf8).span)
          writer.write(.nonce, [choice, flags].span)
          writer.writeAddress(.alternateServer, address)
        } else {
          writer.writeXorMappedAddress(flags & 4 == 0 ? Self.addresses[1] : address)
          writer.writeXorAddress(.xorRelayedAddress, flags & 4 == 0 ? Self.addresses[0] : address)
          writer.write(.lifetime, choice & 0x80 == 0 ? 600 : UInt32(choice & 15))
        }
      })
  }

  private mutating func indicate(_ reader: inout ByteReader) {
    let choice = reader.readUInt8() ?? 0
    let data = takeBytes(&reader)
    if choice & 0x80 == 0 {
      let peer = Self.addresses[Int(choice & 15) % Self.addresses.count]
      receive(
        write(.indication, choice & 0x40 == 0 ? .data : .send, STUNTransactionID(high: 0, low: 1), isAuthentic: false) {
          writer in
          if choice & 0x20 == 0 { writer.writeXorAddress(.xorPeerAddress, peer) }
          if choice & 0x10 == 0 { writer.write(.data, data.span) }
        })
    } else {
      receive([0x40, choice & 15, 0, UInt8(data.count) &+ (choice >> 4 & 3)] + data)
    }
  }

  private func write(
    _ class: STUNClass, _ method: STUNMethod, _ id: STUNTransactionID, isAuthentic: Bool,
    _ body: (inout STUNMessageWriter) -> Void
  ) -> [UInt8] {
    var message = [UInt8](repeating: 0, count: 1_024)
    var span = message.mutableSpan
    var writer = STUNMessageWriter(
      `class`, method: method, transactionID: id, into: span._mutatingExtracting(0..<span.count))
    body(&writer)
    let count = writer.finish(key: isAuthentic ? key : nil, hasFingerprint: false)
    return Array(message.prefix(count))
  }

  private mutating func receive(_ datagram: [UInt8]) {
    var from = route
    from.local = Self.local
    let inner = gatherer.receive(datagram.span, route: from, now: now, into: &batch, events: &events)
    if let inner {
      precondition(inner.range.lowerBound >= 4 && inner.range.upperBound <= datagram.count && !inner.range.isEmpty)
      precondition(inner.route.kind == .relay(4))
    }
    // Permissions that were asked for together are asked for one by one, and what waited for them leaves.
    take(limit: 64)
  }

  private mutating func take(limit: Int) {
    precondition(batch.count <= limit, "\(batch.count) datagrams for one")
    var sent: [Request] = []
    for index in 0..<batch.count {
      let datagram = batch.datagram(index)
      guard !TURNChannelHeader.isLikely(datagram) else { continue }
      guard let message = try? STUNMessage(parsing: datagram) else { fatalError("it cannot be read") }
      if message.header.class == .request {
        sent.append(
          Request(id: message.header.transactionID, method: message.header.method, route: batch.entries[index].route))
      }
    }
    requests += sent
    if requests.count > 16 { requests.removeFirst(requests.count - 16) }
    batch.removeAll()
    events.removeAll()
  }

  // MARK: Invariants

  private func check() {
    precondition(gatherer.candidates.count <= 8)
    for candidate in gatherer.candidates where candidate.kind != .host {
      precondition(candidate.address.port != 0 && !candidate.address.ip.isUnspecified)
      precondition(candidate.kind != .relayed || !candidate.address.ip.isLoopback)
    }
  }

  /// At most 255 bytes, as many as the first one says.
  private func takeBytes(_ reader: inout ByteReader) -> [UInt8] {
    let wanted = Int(reader.readUInt8() ?? 0)
    var bytes: [UInt8] = []
    while bytes.count < wanted, let byte = reader.readUInt8() { bytes.append(byte) }
    return bytes
  }
}
