import CSRTP

/// Why libsrtp2 refused a packet or a key. On the receiving side the peer (or the network) is at fault: count it, drop
/// the packet, go on.
package enum SRTPError: Error, Hashable, Sendable {
  /// The authentication tag does not fit: tampered with, or protected with other keys.
  case authenticationFailed
  /// A packet with this index was accepted before (RFC 3711 §3.3.2).
  case replayed
  /// The packet's index lies before the replay window, so a replay could not be told.
  case tooOld
  /// Not an RTP or RTCP packet, or one too short to carry a tag.
  case malformed
  /// The key has protected as many packets as it may (RFC 3711 §9.2).
  case keyExpired
  /// Any other libsrtp2 status, as its number: none is expected of a working library.
  case library(status: UInt32)

  /// Nil for success.
  init?(_ status: srtp_err_status_t) {
    switch status {
    case srtp_err_status_ok: return nil
    case srtp_err_status_auth_fail: self = .authenticationFailed
    case srtp_err_status_replay_fail: self = .replayed
    case srtp_err_status_replay_old, srtp_err_status_pkt_idx_old: self = .tooOld
    case srtp_err_status_bad_param, srtp_err_status_parse_err: self = .malformed
    case srtp_err_status_key_expired: self = .keyExpired
    default: self = .library(status: UInt32(status.rawValue))
    }
  }
}
