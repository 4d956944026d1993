package import RTCPrimitives

/// One packet that left under a transport-wide sequence number.
package struct SentPacket: Hashable, Sendable {
  /// The kind of a packet for a bandwidth estimator.
  package enum Kind: UInt8, Sendable {
    case video
    /// Little, regular, and never held back by the pacer.
    case audio
    /// Video sent again (RFC 4588).
    case repair
    /// Forward error correction (RFC 5109).
    case fec
    /// Padding, sent to probe the path.
    case padding
    /// Messages of data channels.
    case data
  }

  /// The transport-wide sequence number, continued beyond its 16 bits.
  package var number: Int64
  package var sendTime: Timestamp
  /// Bytes of the UDP payload.
  package var size: Int
  package var kind: Kind
  /// The probe that the packet belongs to; nil for all others.
  package var probe: UInt16?

  package init(number: Int64, sendTime: Timestamp, size: Int, kind: Kind, probe: UInt16? = nil) {
    self.number = number
    self.sendTime = sendTime
    self.size = size
    self.kind = kind
    self.probe = probe
  }
}

/// The fate of one packet according to feedback.
package struct PacketResult: Hashable, Sendable {
  package var packet: SentPacket
  /// When it arrived, on the remote peer's clock from an unknown origin; nil: it was lost.
  package var arrival: TimeDelta?
  /// An earlier feedback has called the packet lost: it was late, no more.
  package var wasReportedLost: Bool

  package init(packet: SentPacket, arrival: TimeDelta?, wasReportedLost: Bool = false) {
    self.packet = packet
    self.arrival = arrival
    self.wasReportedLost = wasReportedLost
  }
}
