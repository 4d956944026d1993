package import RTCPrimitives

/// A short run of packets that leaves faster than the estimate, to learn whether the path bears it. Its packets carry `id`
/// in `SentPacket.probe`.
package struct ProbeCluster: Hashable, Sendable {
  package var id: UInt16
  package var rate: BitRate
  /// It is over when both have left.
  package var minimumPackets: Int
  package var minimumBytes: Int

  package init(id: UInt16, rate: BitRate, minimumPackets: Int = 5, duration: TimeDelta = .milliseconds(15)) {
    self.id = id
    self.rate = rate
    self.minimumPackets = minimumPackets
    minimumBytes = rate.bytes(in: duration)
  }
}
