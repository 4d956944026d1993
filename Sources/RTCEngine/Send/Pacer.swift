package import RTCPrimitives

/// Spreads packets so that a large frame does not arrive as one burst that overflows a queue on the way, and sends probes
/// at their own rate.
///
/// A small frame leaves whole and at once: up to a burst's worth is sent without a gap, because a viewer that sees gaps
/// inside a frame holds it back.
package struct Pacer {
  /// Packets of a large frame leave in groups that are this far apart, so that a group can be sent by one call.
  static let quantum = TimeDelta.milliseconds(2)
  /// A probe that has not left after so long is given up.
  private static let probePatience = TimeDelta.seconds(1)

  package private(set) var rate: BitRate
  private var burst: TimeDelta
  /// When the bytes sent so far have drained at the pacing rate.
  private var drained = Timestamp.zero
  private var probe: Probe?
  private var waiting: [ProbeCluster] = []

  /// A probe on its way out.
  private struct Probe {
    var cluster: ProbeCluster
    /// Since when it might have left.
    var added: Timestamp
    var packets = 0
    var bytes = 0
    /// When the first packet left; nil before.
    var begun: Timestamp?

    var isOver: Bool { packets >= cluster.minimumPackets && bytes >= cluster.minimumBytes }
  }

  package init(_ estimate: NetworkEstimate) {
    rate = estimate.pacingRate
    burst = rate.time(forBytes: estimate.burst)
  }

  /// Paces by this estimate from now on.
  package mutating func update(_ estimate: NetworkEstimate) {
    rate = estimate.pacingRate
    burst = rate.time(forBytes: estimate.burst)
  }

  // MARK: - Probes

  /// Sends this probe after those before it, from the next packet on.
  package mutating func add(_ cluster: ProbeCluster, _ now: Timestamp) {
    if probe == nil { probe = Probe(cluster: cluster, added: now) } else { waiting.append(cluster) }
  }

  /// True while packets are wanted for a probe.
  package var isProbing: Bool { probe != nil }

  /// Gives up probes that found nothing to send.
  package mutating func dropProbes() {
    probe = nil
    waiting.removeAll(keepingCapacity: true)
  }

  // MARK: - Packets

  /// When something that waits may leave; `.distantFuture` while nothing waits for the pacer.
  package private(set) var nextDeadline = Timestamp.distantFuture

  /// Something waits that may not leave yet.
  package mutating func hold() { nextDeadline = nextSend() }

  package mutating func hold(until time: Timestamp) { nextDeadline = time }

  /// Resets the deadline: nothing waits, or sending has started again.
  package mutating func release() { nextDeadline = .distantFuture }

  package mutating func maySend(_ now: Timestamp) -> Bool {
    if let probe, now - (probe.begun ?? probe.added) > Self.probePatience { dropProbes() }
    // In groups too, so that a call sends one.
    if let probe { return probeDue(probe) - Self.quantum < now }
    return drained - burst <= now
  }

  /// When the next group of packets may leave.
  package func nextSend() -> Timestamp {
    if let probe { return probeDue(probe) }
    return drained - burst + Self.quantum
  }

  private func probeDue(_ probe: Probe) -> Timestamp {
    probe.begun.map { $0 + probe.cluster.rate.time(forBytes: probe.bytes) } ?? .zero
  }

  /// Counts a packet that left.
  /// - Returns: the probe that it belongs to.
  package mutating func sent(bytes: Int, now: Timestamp) -> UInt16? {
    drained = max(drained, now) + rate.time(forBytes: bytes)
    guard var probe else { return nil }
    if probe.begun == nil { probe.begun = now }
    probe.packets += 1
    probe.bytes += bytes
    self.probe = probe.isOver ? nil : probe
    if self.probe == nil, !waiting.isEmpty { self.probe = Probe(cluster: waiting.removeFirst(), added: now) }
    return probe.cluster.id
  }
}
