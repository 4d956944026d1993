package import RTCPrimitives

/// A short run of packets that is sent faster than the estimate, to test the path. Its packets have `id` in
/// `SentPacket.probe`.
package struct ProbeCluster: Hashable, Sendable {
  package var id: UInt16
  package var rate: BitRate
  /// The probe ends when both minimums are sent.
  package var minimumPackets: Int
  package var minimumBytes: Int

  package init(id: UInt16, rate: BitRate, minimumPackets: Int = 5, duration: TimeDelta = .milliseconds(15)) {
    self.id = id
    self.rate = rate
    self.minimumPackets = minimumPackets
    minimumBytes = rate.bytes(in: duration)
  }
}
