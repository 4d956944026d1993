package import RTCPrimitives

/// A network between two hosts on virtual time: loss, delay, reordering, duplication and a bottleneck queue, each direction
/// by its own conditions. The same seed and inputs give the same deliveries, always.
package struct NetworkEmulator {
  /// The direction of a datagram.
  package enum Direction: Int, CaseIterable, Sendable {
    case aToB
    case bToA
  }

  /// A datagram at its destination.
  package struct Delivery: Sendable {
    /// When it arrives.
    package var time: Timestamp
    /// The direction.
    package var direction: Direction
    /// The route as the receiver sees it: `local` is its own address.
    package var route: Route
    /// The datagram's payload.
    package var bytes: [UInt8]
  }

  /// Counters of one direction's datagrams.
  package struct Counters: Hashable, Sendable {
    /// Given to `send`.
    package internal(set) var sent = 0
    /// Datagrams returned by `nextDelivery`, duplicates included.
    package internal(set) var delivered = 0
    /// Lost by chance, in bursts or alone.
    package internal(set) var lost = 0
    /// Dropped because the bottleneck's queue was full.
    package internal(set) var overflowed = 0
    /// Delivered twice.
    package internal(set) var duplicated = 0
    /// Dropped because their sender's or receiver's address is blocked.
    package internal(set) var blocked = 0
  }

  /// Addresses that nothing reaches and nothing leaves: an interface that is down, a firewall.
  package var blockedAddresses: Set<SocketAddress> = []

  private var links: [NetworkLink]
  private var random: SeededGenerator
  private var inFlight = DeliveryQueue<Delivery>()

  /// Makes a network with equal directions.
  package init(seed: UInt64, conditions: NetworkConditions = NetworkConditions()) {
    random = SeededGenerator(seed: seed)
    links = Direction.allCases.map { _ in NetworkLink(conditions: conditions) }
  }

  /// The conditions of a direction; a change holds for datagrams sent after it.
  package subscript(direction: Direction) -> NetworkConditions {
    get { links[direction.rawValue].conditions }
    set { links[direction.rawValue].conditions = newValue }
  }

  /// Sets both directions.
  package mutating func setConditions(_ conditions: NetworkConditions) {
    for direction in Direction.allCases { self[direction] = conditions }
  }

  /// The counters of one direction so far.
  package func counters(_ direction: Direction) -> Counters { links[direction.rawValue].counters }

  /// Takes a datagram in. `route` is the sender's view; `now` must not go back.
  package mutating func send(_ bytes: Span<UInt8>, route: Route, direction: Direction, now: Timestamp) {
    let link = direction.rawValue
    links[link].counters.sent += 1
    guard !blockedAddresses.contains(route.local), !blockedAddresses.contains(route.remote) else {
      links[link].counters.blocked += 1
      return
    }
    let arrivals = links[link].pass(byteCount: bytes.count, now: now, random: &random)
    guard !arrivals.isEmpty else { return }
    let copy = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
    let arrived = Route(local: route.remote, remote: route.local)
    for time in arrivals {
      inFlight.insert(Delivery(time: time, direction: direction, route: arrived, bytes: copy), at: time)
    }
  }

  /// Sends all datagrams of a batch.
  package mutating func send(_ batch: borrowing DatagramBatch, direction: Direction, now: Timestamp) {
    for i in 0..<batch.count {
      send(batch.datagram(i), route: batch.entries[i].route, direction: direction, now: now)
    }
  }

  /// When the next delivery is due.
  package var nextDeadline: Timestamp? { inFlight.firstTime }

  /// The next delivery due by `now`, in order of time and, within one moment, of sending.
  package mutating func nextDelivery(by now: Timestamp) -> Delivery? {
    guard let first = inFlight.first, first.time <= now else { return nil }
    links[first.direction.rawValue].counters.delivered += 1
    return inFlight.removeFirst()
  }
}

/// One direction: decides what becomes of each datagram.
struct NetworkLink {
  var conditions: NetworkConditions
  var counters = NetworkEmulator.Counters()
  private var isInBurst = false
  /// When the bottleneck has sent all it holds.
  private var busyUntil = Timestamp(nanoseconds: .min)
  private var lastArrival = Timestamp(nanoseconds: .min)

  init(conditions: NetworkConditions) { self.conditions = conditions }

  /// The moments at which a datagram arrives: none when it is lost, two when it is duplicated.
  mutating func pass(byteCount: Int, now: Timestamp, random: inout SeededGenerator) -> [Timestamp] {
    guard let departure = queue(byteCount: byteCount + conditions.overhead, now: now) else {
      counters.overflowed += 1
      return []
    }
    guard !loses(random: &random) else {
      counters.lost += 1
      return []
    }
    var arrivals = [arrival(departure, random: &random)]
    if conditions.duplication > 0, random.nextUnit() < conditions.duplication {
      counters.duplicated += 1
      arrivals.append(arrival(departure, random: &random))
    }
    return arrivals
  }

  private mutating func queue(byteCount: Int, now: Timestamp) -> Timestamp? {
    guard let rate = conditions.rate else { return now }
    let start = max(now, busyUntil)
    guard rate.bytes(in: start - now) + byteCount <= conditions.queueCapacity else { return nil }
    busyUntil = start + rate.time(forBytes: byteCount)
    return busyUntil
  }

  private mutating func loses(random: inout SeededGenerator) -> Bool {
    if let burst = conditions.burstLoss {
      let draw = random.nextUnit()
      isInBurst = isInBurst ? draw >= burst.end : draw < burst.begin
      if isInBurst { return true }
    }
    return conditions.loss > 0 && random.nextUnit() < conditions.loss
  }

  private mutating func arrival(_ departure: Timestamp, random: inout SeededGenerator) -> Timestamp {
    var time = departure + conditions.delay
    if conditions.jitter > .zero { time += .seconds(conditions.jitter.seconds * random.nextUnit()) }
    if !conditions.reorders { time = max(time, lastArrival) }
    lastArrival = max(lastArrival, time)
    return time
  }
}
