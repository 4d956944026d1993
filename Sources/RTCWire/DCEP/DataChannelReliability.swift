/// How hard a channel tries to deliver each message (RFC 8832 §5.1, RFC 3758, RFC 7496).
public enum DataChannelReliability: Hashable, Sendable {
  case reliable
  /// Given up after so many retransmissions; 0 = sent once.
  case maximumRetransmissions(UInt32)
  /// Given up so many milliseconds after it was sent.
  case maximumLifetime(UInt32)

  /// Nil for a type this knows nothing of. The lower seven bits count; the highest says "unordered".
  init?(channelType: UInt8, parameter: UInt32) {
    switch channelType {
    case 0: self = .reliable
    case 1: self = .maximumRetransmissions(parameter)
    case 2: self = .maximumLifetime(parameter)
    default: return nil
    }
  }

  var channelType: UInt8 {
    switch self {
    case .reliable: 0
    case .maximumRetransmissions: 1
    case .maximumLifetime: 2
    }
  }

  var parameter: UInt32 {
    switch self {
    case .reliable: 0
    case .maximumRetransmissions(let count): count
    case .maximumLifetime(let milliseconds): milliseconds
    }
  }
}
