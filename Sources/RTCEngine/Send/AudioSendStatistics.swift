/// Totals of one outgoing audio, and the listener's last report.
public struct AudioSendStatistics: Sendable {
  /// RTP packets sent.
  public var packetsSent: UInt64 = 0
  /// RTP payload bytes, as sender reports count them (RFC 3550 §6.4.1).
  public var payloadBytesSent: UInt64 = 0
  /// Bytes of whole datagrams.
  public var bytesSent: UInt64 = 0
  /// Packets with a copy of the one before (RFC 2198).
  public var redundantPacketsSent: UInt64 = 0
  /// Frames left out because they are empty or larger than a packet may be.
  public var framesUnfit: UInt64 = 0
  /// The listener's last report: fraction lost 0…1, jitter in units of 1/48 000 s.
  public var fractionLost = 0.0
  /// Interarrival jitter by the listener's last report, in units of 1/48 000 s (RFC 3550 §6.4.1).
  public var jitter: UInt32 = 0

  /// Zero totals.
  public init() {}
}
