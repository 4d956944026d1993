package import RTCPrimitives
import RTCWire

/// A TURN and STUN server (RFC 8656, RFC 8489) without sockets and clock, for UDP between server and peers. A client is a route:
/// by UDP, or by a stream that the owner cuts into messages.
///
/// The owner passes each message of a client and each datagram of a peer, carries out the actions of the outbox after each call,
/// and sends its datagrams. Relayed data is copied once, into the outbox; nothing is allocated for it.
package struct TURNServer: ~Copyable {
  /// The settings; may be changed at any time.
  package var configuration: TURNServerConfiguration
  /// The time of day in seconds since 1970, by which credentials end; set by the owner.
  package var unixTime: Int64 = 0
  /// The counters since the start.
  package internal(set) var counters = TURNServerCounters()
  /// The time at which the next allocation expires, or earlier.
  package private(set) var nextDeadline = Timestamp.distantFuture

  let nonces: TURNNonces
  private var allocations: [TURNServerAllocation?] = []
  private var free: [Int] = []
  private var byClient: [Route: Int] = [:]
  private var byRelay: [Route.Kind: Int] = [:]
  /// By the address that peers see.
  private var byRelayedAddress: [SocketAddress: Int] = [:]
  private var countByNetwork: [ClientNetwork: Int] = [:]
  private var countByUser: [[UInt8]: Int] = [:]
  private var refusalBudget = (second: Int64.min, left: 0)

  /// - Parameter nonceKey: random bytes.
  package init(_ configuration: TURNServerConfiguration, nonceKey: [UInt8]) {
    self.configuration = configuration
    nonces = TURNNonces(key: nonceKey)
  }

  // MARK: - Datagrams

  /// Takes a message of a client.
  package mutating func receive(
    _ bytes: Span<UInt8>, from client: Route, now: Timestamp, into out: inout TURNServerOutbox
  ) {
    if bytes.count >= TURNChannelHeader.size, bytes[0] >> 6 == 1 {
      return relayChannelData(bytes, from: client, now: now, into: &out)
    }
    // FINGERPRINT tells STUN from other protocols at one port (RFC 8489 §7). No other comes here, so it is not computed: it costs
    // more than all else for a Send indication.
    guard STUNMessage.isLikely(bytes), let message = try? STUNMessage(parsing: bytes) else {
      counters.dropsInvalid &+= 1
      return
    }
    switch (message.header.class, message.header.method) {
    case (.request, _): answer(message, from: client, now: now, into: &out)
    case (.indication, .send): relayIndication(message, from: client, now: now, into: &out)
    case (.indication, .binding): break  // a keepalive
    default: counters.dropsInvalid &+= 1
    }
  }

  /// Takes a datagram that a peer has sent to a relayed address.
  /// - Parameter kind: the port at which it came.
  package mutating func receive(
    _ bytes: Span<UInt8>, at kind: Route.Kind, from peer: SocketAddress, now: Timestamp,
    into out: inout TURNServerOutbox
  ) {
    guard let number = byRelay[kind] else { return }
    relayToClient(bytes, of: number, from: peer, now: now, into: &out)
  }

  /// The ports that `TURNServerOutbox.Action.open` asked for are open; none if that failed.
  package mutating func opened(
    _ number: Int, _ relays: [TURNRelay], now: Timestamp, into out: inout TURNServerOutbox
  ) {
    guard allocations.indices.contains(number), let allocation = allocations[number], allocation.relays.isEmpty else {
      return
    }
    guard !relays.isEmpty else {
      refuse(
        .insufficientCapacity, .allocate, allocation.transaction, to: allocation.client, key: allocation.key,
        hasFingerprint: allocation.hasFingerprint, into: &out)
      return remove(number, into: &out)
    }
    allocations[number]?.relays = relays
    for relay in relays {
      byRelay[relay.kind] = number
      byRelayedAddress[outside(relay.local)] = number
    }
    counters.allocationsMade &+= 1
    confirmAllocation(number, now: now, into: &out)
  }

  /// A stream of a client has ended, and its allocation with it (RFC 8656 §3.1: the 5-tuple is gone).
  package mutating func ended(_ client: Route, into out: inout TURNServerOutbox) {
    if let number = byClient[client] { remove(number, into: &out) }
  }

  /// Whether the client has an allocation.
  package func hasAllocation(_ client: Route, now: Timestamp) -> Bool { allocation(of: client, now: now) != nil }

  /// Removes the allocations that have expired.
  package mutating func expire(now: Timestamp, into out: inout TURNServerOutbox) {
    guard nextDeadline <= now else { return }
    nextDeadline = .distantFuture
    for number in allocations.indices {
      guard let end = allocations[number]?.expiresAt else { continue }
      if end <= now { remove(number, into: &out) } else { nextDeadline = min(nextDeadline, end) }
    }
  }

  /// The owner had no room for the answer to a datagram, and did not pass it.
  package mutating func countFullQueue() { counters.dropsFull &+= 1 }

  // MARK: - Allocations

  /// The allocation of a client, unless it has expired.
  func allocation(of client: Route, now: Timestamp) -> Int? {
    guard let number = byClient[client], let end = allocations[number]?.expiresAt, end > now else { return nil }
    return number
  }

  subscript(number: Int) -> TURNServerAllocation {
    _read { yield allocations[number]! }
    _modify { yield &allocations[number]! }
  }

  /// Whether there may be one allocation more; nil is success.
  func refusalOfAnother(network: ClientNetwork, user: [UInt8]) -> STUNErrorCode? {
    let limits = configuration.limits
    guard countByUser[user, default: 0] < limits.allocationsPerUser,
      countByNetwork[network, default: 0] < limits.allocationsPerNetwork
    else { return .allocationQuotaReached }
    return byClient.count < limits.allocations ? nil : .insufficientCapacity
  }

  mutating func add(_ allocation: TURNServerAllocation) -> Int {
    let number = free.popLast() ?? allocations.count
    if number == allocations.count { allocations.append(allocation) } else { allocations[number] = allocation }
    byClient[allocation.client] = number
    countByNetwork[allocation.network, default: 0] += 1
    countByUser[allocation.user, default: 0] += 1
    counters.allocations = byClient.count
    nextDeadline = min(nextDeadline, allocation.expiresAt)
    return number
  }

  mutating func remove(_ number: Int, into out: inout TURNServerOutbox) {
    guard let allocation = allocations[number] else { return }
    allocations[number] = nil
    free.append(number)
    byClient[allocation.client] = nil
    for relay in allocation.relays { forget(relay, into: &out) }
    Self.uncount(allocation.network, in: &countByNetwork)
    Self.uncount(allocation.user, in: &countByUser)
    counters.allocations = byClient.count
  }

  private mutating func forget(_ relay: TURNRelay, into out: inout TURNServerOutbox) {
    byRelay[relay.kind] = nil
    byRelayedAddress[outside(relay.local)] = nil
    out.actions.append(.close(relay.kind))
  }

  /// Closes the relayed address of one family (RFC 8656 §8.2); the last one's end is the allocation's.
  mutating func removeRelay(isV4: Bool, of number: Int, into out: inout TURNServerOutbox) {
    guard self[number].relays.count > 1, let relay = self[number].relays.first(where: { $0.local.ip.isV4 == isV4 })
    else { return remove(number, into: &out) }
    self[number].relays.removeAll { $0.kind == relay.kind }
    forget(relay, into: &out)
  }

  mutating func extend(_ number: Int, to end: Timestamp) {
    self[number].expiresAt = end
    nextDeadline = min(nextDeadline, end)
  }

  private static func uncount<Key>(_ key: Key, in counts: inout [Key: Int]) {
    let left = counts[key, default: 0] - 1
    counts[key] = left > 0 ? left : nil
  }

  /// The allocation whose relayed address is seen so by peers.
  func allocation(relayedAt address: SocketAddress) -> Int? { byRelayedAddress[address] }

  /// A relayed address as peers see it.
  func outside(_ local: SocketAddress) -> SocketAddress {
    SocketAddress(ip: configuration.outside[local.ip] ?? local.ip, port: local.port)
  }

  /// Whether a request without valid credentials is answered: anybody can send any number of them, with forged addresses.
  mutating func mayRefuseStranger(now: Timestamp) -> Bool {
    let second = now.nanoseconds / 1_000_000_000
    if refusalBudget.second != second { refusalBudget = (second, configuration.limits.refusalsPerSecond) }
    guard refusalBudget.left > 0 else { return false }
    refusalBudget.left -= 1
    return true
  }
}
