import RTCPrimitives

/// The results of probes: the rates at which each was sent and arrived.
struct ProbeEstimator {
  /// The result of one probe.
  struct Result {
    var cluster: ProbeCluster
    /// The bandwidth in bit/s: a lower bound, or an upper bound if the probe arrived slower than it was sent.
    var rate: Double
    /// Whether it arrived slower than it was sent: the path has no more bandwidth.
    var isSaturated: Bool
  }

  fileprivate struct Cluster {
    var probe: ProbeCluster
    var handedOut: Timestamp
    var packets = 0
    var bytes = 0
    /// Whether it consisted of padding only.
    var isPadding = true
    var firstSent = Int64.max
    var lastSent = Int64.min
    var sizeOfLastSent = 0
    var firstArrived = Int64.max
    var lastArrived = Int64.min
    var sizeOfFirstArrived = 0
  }

  /// The share of a probe that must have arrived for a result.
  fileprivate static let neededShare = 0.8
  /// Packets that arrive faster than they left, by more than this, were held up together on the way.
  fileprivate static let largestCompression = 2.0
  /// Slower than this share of its rate, and the probe filled the path.
  fileprivate static let saturation = 0.9
  /// The share of the arrival rate to use if the path was saturated.
  fileprivate static let saturatedShare = 0.95
  private static let longest = TimeDelta.seconds(1)
  private static let maximumCount = 4

  private var clusters: [Cluster] = []

  /// This probe leaves soon.
  mutating func add(_ probe: ProbeCluster, now: Timestamp) {
    if clusters.count >= Self.maximumCount { clusters.removeFirst() }
    clusters.append(Cluster(probe: probe, handedOut: now))
  }

  /// True while a probe is on its way.
  var isProbing: Bool { !clusters.isEmpty }

  /// Gives up a probe of padding alone that has arrived and yet says nothing: a receiver that was busy took its packets
  /// all at once.
  mutating func takeUnreadable() -> ProbeCluster? {
    guard let index = clusters.firstIndex(where: { $0.isPadding && $0.isComplete }) else { return nil }
    return clusters.remove(at: index).probe
  }

  /// Gives up probes without feedback.
  mutating func forget(before roundTrip: TimeDelta, _ now: Timestamp) {
    clusters.removeAll { now - $0.handedOut > roundTrip + Self.longest }
  }

  /// Takes an arrived packet of a probe.
  /// - Returns: the result, once enough has arrived; each further packet makes it more precise.
  mutating func add(_ arrival: RecentArrivals.Arrival, of id: UInt16, kind: SentPacket.Kind) -> Result? {
    guard let index = clusters.firstIndex(where: { $0.probe.id == id }) else { return nil }
    clusters[index].add(arrival)
    if kind != .padding { clusters[index].isPadding = false }
    return clusters[index].hasEnough ? clusters[index].result : nil
  }

  /// Ends a probe.
  mutating func finish(_ id: UInt16) { clusters.removeAll { $0.probe.id == id } }

  mutating func reset() { clusters.removeAll(keepingCapacity: true) }
}

extension ProbeEstimator.Cluster {
  var hasEnough: Bool {
    Double(packets) >= Double(probe.minimumPackets) * ProbeEstimator.neededShare
      && Double(bytes) >= Double(probe.minimumBytes) * ProbeEstimator.neededShare
  }

  /// Whether all packets of it have arrived.
  var isComplete: Bool { packets >= probe.minimumPackets && bytes >= probe.minimumBytes }

  mutating func add(_ arrival: RecentArrivals.Arrival) {
    packets += 1
    bytes += arrival.size
    firstSent = min(firstSent, arrival.sent)
    if arrival.sent >= lastSent {
      lastSent = arrival.sent
      sizeOfLastSent = arrival.size
    }
    if arrival.arrived < firstArrived {
      firstArrived = arrival.arrived
      sizeOfFirstArrived = arrival.size
    }
    lastArrived = max(lastArrived, arrival.arrived)
  }

  /// Nil when the times cannot be: packets that left or came in one moment, or came much faster than they left.
  var result: ProbeEstimator.Result? {
    let sentTime = Double(lastSent &- firstSent) / 1e9
    let arrivedTime = Double(lastArrived &- firstArrived) / 1e9
    guard sentTime > 0, arrivedTime > 0, sentTime < 1, arrivedTime < 1 else { return nil }
    let sendRate = Double(bytes - sizeOfLastSent) * 8 / sentTime
    let arrivalRate = Double(bytes - sizeOfFirstArrived) * 8 / arrivedTime
    guard arrivalRate <= ProbeEstimator.largestCompression * sendRate else { return nil }
    let wanted = Double(probe.rate.bitsPerSecond)
    let isSaturated = arrivalRate < ProbeEstimator.saturation * sendRate
    let rate = isSaturated ? arrivalRate * ProbeEstimator.saturatedShare : min(sendRate, arrivalRate)
    return ProbeEstimator.Result(cluster: probe, rate: min(rate, wanted), isSaturated: isSaturated)
  }
}
