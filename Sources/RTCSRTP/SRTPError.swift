import COpenSSL

/// The reason for refusing a packet or a key. On the receiving side the peer (or the network) is at fault: count it,
/// drop the packet, and continue.
package enum SRTPError: Error, Hashable, Sendable {
  /// The authentication tag does not fit: tampered with, or protected with other keys.
  case authenticationFailed
  /// A packet with this index was accepted before (RFC 3711 §3.3.2).
  case replayed
  /// The packet's index is before the replay window, so a replay cannot be excluded.
  case tooOld
  /// Not an RTP or RTCP packet, or one too short to carry a tag, or a report that is said not to be encrypted.
  case malformed
  /// The key has protected as many packets as it may (RFC 3711 §9.2).
  case keyExpired
  /// OpenSSL's packed error code: none is expected of a working library with memory left.
  case library(code: UInt)

  /// The last error of OpenSSL on this thread, whose queue is then empty.
  static func openSSL() -> SRTPError {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    return .library(code: code)
  }
}
