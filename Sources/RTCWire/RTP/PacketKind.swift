/// The protocol of a datagram on a bundled port (RFC 7983 §7; RTP and RTCP by RFC 5761 §4).
///
/// ```
///      first byte   0…3      STUN
///                   20…63    DTLS
///                   64…79    TURN channel data
///                   128…191  RTP or RTCP: RTCP when the second byte is 192…223
/// ```
public enum PacketKind: Hashable, Sendable, BitwiseCopyable {
  case stun
  case dtls
  case turnChannel
  case rtp
  case rtcp

  /// Classifies by the first two bytes; nil for an empty datagram and for anything this stack does not speak.
  public init?(_ datagram: Span<UInt8>) {
    guard datagram.count > 0 else { return nil }
    switch datagram[0] {
    case 0...3: self = .stun
    case 20...63: self = .dtls
    case 64...79: self = .turnChannel
    case 128...191:
      guard datagram.count > 1 else { return nil }
      self = (192...223).contains(datagram[1]) ? .rtcp : .rtp
    default: return nil
    }
  }
}
