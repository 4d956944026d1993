import COpenSSL
package import RTCPrimitives

/// The side that sends the first message: `a=setup:active` is the client (RFC 8842 §5).
package enum DTLSRole: Hashable, Sendable {
  case client
  case server
}

/// The result of a step of a `DTLSTransport`.
package enum DTLSEvent: Hashable, Sendable {
  /// The handshake is complete and the peer's certificate is the signaled one.
  case connected(SRTPKeys)
  /// One message of application data (for SCTP, RFC 8261).
  case data([UInt8])
  /// The peer said goodbye; nothing more will come.
  case closedByPeer
  /// The transport is unusable; the peer was notified if possible.
  case failed(DTLSFailure)
}

/// Why a transport failed. All of these are the peer's or the network's doing.
package enum DTLSFailure: Error, Hashable, Sendable {
  /// The peer's certificate is not the signaled one: another peer answered (RFC 8827 §6.5).
  case fingerprintMismatch
  /// The peer offered or chose no SRTP profile of ours (RFC 5764 §4.1).
  case noCommonSRTPProfile
  /// The peer refused, with this alert (RFC 5246 §7.2).
  case alert(UInt8)
  /// No answer to any of a dozen transmissions: about 20 seconds.
  case timeout
  /// The peer broke the protocol, or shares no version or cipher suite with us.
  case protocolViolation(OpenSSLError)

  init(_ error: OpenSSLError) {
    switch error.tlsReason {
    case SSL_R_CERTIFICATE_VERIFY_FAILED: self = .fingerprintMismatch
    case SSL_R_READ_TIMEOUT_EXPIRED: self = .timeout
    case let reason? where reason >= SSL_AD_REASON_OFFSET:
      self = .alert(UInt8(truncatingIfNeeded: reason - SSL_AD_REASON_OFFSET))
    default: self = .protocolViolation(error)
    }
  }
}

/// Why a message was not sent: the caller asked too early, too late, or for too much.
package enum DTLSSendError: Error, Hashable, Sendable {
  case notConnected
  /// Longer than `DTLSTransport.maximumMessageSize`.
  case tooLong
}
