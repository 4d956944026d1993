package import RTCPrimitives
import RTCWire

/// Gathers the candidates of a set of sockets, and relays through TURN servers (RFC 8445 §5.1.1, RFC 8489, RFC 8656),
/// without sockets, clocks and names.
///
/// The owner passes the sockets' addresses (`setBases`), servers by their resolved addresses (`add`), datagrams from
/// them (`receive`) and the time. All servers are asked at once; one allocation serves all peers. After every call,
/// `nextDeadline` says when `deadlineReached` must be called; it may say "now". Owned by one thread.
package struct CandidateGatherer: ~Copyable {
  /// Something worth knowing to the owner.
  package enum Event: Hashable, Sendable {
    /// `candidates` or `isComplete` is another one now.
    case candidatesChanged
    /// The server is unusable, for now or for good. Where another attempt makes sense, it follows by itself; for a
    /// broken stream the owner must remove the server, connect, and add it again.
    case serverFailed(id: Int, ICEServerFailure)
    /// The server has answered for the first time, after a failure, or with another address. `after`: since it was asked.
    case serverAnswered(id: Int, after: TimeDelta, mapped: SocketAddress?, relayed: SocketAddress?)
  }

  /// The candidates to be offered now, highest priority first: of each base, of each address that a NAT gives it, and of
  /// each allocation.
  package private(set) var candidates: [ICECandidate] = []
  /// Each server has answered, failed, or had 10 s to do so. A later answer still makes a candidate.
  package private(set) var isComplete = true
  /// When `deadlineReached` must be called; `distantFuture`: not at all.
  package private(set) var nextDeadline = Timestamp.distantFuture

  private var bases: [Base] = []
  private var queries: [STUNServerQuery] = []
  var allocations: [TURNAllocation] = []
  private var endpoints = ServerEndpoints()
  private var random: SeededGenerator

  /// - Parameter seed: for transaction ids and the spread of timers; random in production.
  package init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  // MARK: - What to gather from

  /// Sets the sockets' present addresses: at first, and after every change of the network. Candidates without a base
  /// are removed at once; servers are asked again, as the path to them may have changed.
  package mutating func setBases(
    _ bases: [Base], now: Timestamp, into batch: inout DatagramBatch, events: inout [Event]
  ) {
    guard bases != self.bases else { return }
    let former = self.bases
    self.bases = bases
    if !former.isEmpty {
      for i in queries.indices { queries[i].ask(now: now, into: &batch) }
      for i in allocations.indices {
        if let local = allocations[i].lease?.local, Self.has(former, local), !Self.has(bases, local) {
          allocations[i].startAnew(now: now, into: &batch)
        } else {
          allocations[i].probe(now: now, into: &batch)
        }
      }
    }
    settle(now: now, events: &events)
  }

  /// Adds a server and asks it at once. It replaces one of the same `id`; if only the credentials differ, a working
  /// allocation continues with the old ones (others would be refused, RFC 8656 §5), and the next one uses the new. Two
  /// servers may differ in the STUN and TURN role only; a second one of the same role, address and transport is
  /// refused.
  package mutating func add(
    _ server: Server, now: Timestamp, into batch: inout DatagramBatch, events: inout [Event]
  ) {
    if let index = allocations.firstIndex(where: { $0.link.server.isSamePlace(as: server) }) {
      allocations[index].renew(server, now: now, into: &batch)
      return settle(now: now, events: &events)
    }
    withdraw(server.id, now: now, into: &batch)
    locate()
    if endpoints.contains(server) {
      events.append(.serverFailed(id: server.id, .duplicate))
    } else if server.isRelay {
      allocations.append(TURNAllocation(server, seed: random.next(), now: now))
      allocations[allocations.count - 1].allocate(now: now, into: &batch)
    } else {
      queries.append(STUNServerQuery(server, seed: random.next(), now: now))
      queries[queries.count - 1].ask(now: now, into: &batch)
    }
    locate()
    settle(now: now, events: &events)
  }

  /// The server is no longer wanted, or its stream is gone. An allocation is given back where a request still reaches it.
  package mutating func remove(
    server id: Int, now: Timestamp, into batch: inout DatagramBatch, events: inout [Event]
  ) {
    withdraw(id, now: now, into: &batch)
    locate()
    settle(now: now, events: &events)
  }

  /// Asks each server whether it is still there, at once: after a sleep, or when a peer falls silent. Failed ones are tried
  /// again without waiting.
  package mutating func probe(now: Timestamp, into batch: inout DatagramBatch) {
    for i in queries.indices { queries[i].ask(now: now, into: &batch) }
    for i in allocations.indices { allocations[i].probe(now: now, into: &batch) }
    rearm()
  }

  /// Gives all allocations back and ends. The datagrams must still be sent.
  package mutating func close(into batch: inout DatagramBatch, now: Timestamp) {
    for i in allocations.indices { allocations[i].release(now: now, into: &batch) }
    queries = []
    allocations = []
    locate()
    rearm()
  }

  // MARK: - Network and time

  /// True when a datagram that came this way is from one of the servers, and so for `receive`. One or two look-ups; without
  /// servers none.
  package func expects(_ route: Route) -> Bool { endpoints.find(route) != nil }

  /// Takes a datagram, or a message from a stream, of a server.
  /// - Returns: a relayed datagram of a peer: its range in `bytes`, and its route, whose kind is `.relay`.
  package mutating func receive(
    _ bytes: Span<UInt8>, route: Route, now: Timestamp, into batch: inout DatagramBatch, events: inout [Event]
  ) -> (range: Range<Int>, route: Route)? {
    guard let endpoint = endpoints.find(route) else { return nil }
    if TURNChannelHeader.isLikely(bytes) {
      guard let index = endpoint.allocation else { return nil }
      return allocations[index].unwrapChannelData(bytes, now: now)
    }
    guard STUNMessage.isLikely(bytes), let message = try? STUNMessage(parsing: bytes) else { return nil }
    if message.header.class == .indication {
      guard let index = endpoint.allocation else { return nil }
      return allocations[index].unwrapIndication(message, now: now)
    }
    take(message, at: endpoint, route: route, now: now, into: &batch, events: &events)
    settle(now: now, events: &events)
    return nil
  }

  /// Performs everything that is due at `now`; without effect if nothing is.
  package mutating func deadlineReached(now: Timestamp, into batch: inout DatagramBatch, events: inout [Event]) {
    for i in queries.indices where queries[i].nextDeadline <= now {
      if queries[i].nextAt <= now, isKept(elsewhere: i) { queries[i].rest(now: now) }
      queries[i].deadlineReached(now: now, into: &batch, events: &events)
    }
    for i in allocations.indices where allocations[i].nextDeadline <= now {
      allocations[i].deadlineReached(now: now, into: &batch, events: &events)
    }
    settle(now: now, events: &events)
  }

  private mutating func take(
    _ message: STUNMessage, at endpoint: ServerEndpoints.Endpoint, route: Route, now: Timestamp,
    into batch: inout DatagramBatch, events: inout [Event]
  ) {
    if let index = endpoint.allocation {
      let former = allocations[index].link.route
      if allocations[index].take(message, on: route, now: now, into: &batch, events: &events) {
        if allocations[index].link.route != former { locate() }
        return
      }
    }
    if let index = endpoint.query {
      let former = queries[index].link.route
      queries[index].take(message, on: route, now: now, into: &batch, events: &events)
      if queries[index].link.route != former { locate() }
    }
  }

  // MARK: - Bookkeeping

  private mutating func withdraw(_ id: Int, now: Timestamp, into batch: inout DatagramBatch) {
    queries.removeAll { $0.link.server.id == id }
    for i in allocations.indices where allocations[i].link.server.id == id {
      allocations[i].release(now: now, into: &batch)
    }
    allocations.removeAll { $0.link.server.id == id }
  }

  private mutating func locate() { endpoints = ServerEndpoints(queries: queries, allocations: allocations) }

  /// An earlier server that works gives the same address, so that its Binding requests keep the mapping for this one too.
  private func isKept(elsewhere index: Int) -> Bool {
    guard queries[index].isHealthy else { return false }
    return queries[..<index].contains {
      $0.isHealthy && $0.mappedAddress == queries[index].mappedAddress
        && $0.link.route.kind == queries[index].link.route.kind
    }
  }

  /// Updates candidates and deadlines after a step and reports changes.
  private mutating func settle(now: Timestamp, events: inout [Event]) {
    let gathered = CandidateList(bases: bases, queries: queries, allocations: allocations).candidates
    let nowComplete = pendingUntil.map { $0 <= now } ?? true
    if gathered != candidates || nowComplete != isComplete { events.append(.candidatesChanged) }
    candidates = gathered
    isComplete = nowComplete
    rearm()
  }

  /// When the last server that has said nothing yet has had its time; nil when there is none.
  private var pendingUntil: Timestamp? {
    let times =
      queries.filter { !$0.hasSettled }.map(\.startedAt) + allocations.filter { !$0.hasSettled }.map(\.startedAt)
    return times.max().map { $0 + Self.patience }
  }

  /// Five requests have gone out by then. A server that answers later is none to wait for.
  private static let patience = TimeDelta.seconds(10)

  mutating func rearm() {
    var time = isComplete ? Timestamp.distantFuture : pendingUntil ?? .distantFuture
    for query in queries { time = min(time, query.nextDeadline) }
    for allocation in allocations { time = min(time, allocation.nextDeadline) }
    nextDeadline = time
  }

  private static func has(_ bases: [Base], _ address: SocketAddress) -> Bool {
    bases.contains { $0.address.withoutScope == address.withoutScope }
  }
}
