import CSRTP
package import RTCPrimitives

/// SRTP by libsrtp2, which other peers have: a second opinion for tests, and what ours is measured beside.
package final class LibSRTPSession {
  /// A status of libsrtp2 that is not success.
  package struct Failure: Error, Equatable {
    package let status: UInt32
  }

  /// The free bytes that must follow a packet to be protected.
  package static let headroom = Int(SRTP_MAX_TRAILER_LEN)

  private let outbound: OpaquePointer
  private let inbound: OpaquePointer

  package init(keys: SRTPKeys) throws(Failure) {
    try Self.check(Self.initialized)
    outbound = try Self.makeContext(ssrc_any_outbound, keys.profile, keys.local)
    inbound = try Self.makeContext(ssrc_any_inbound, keys.profile, keys.remote)
  }

  deinit {
    srtp_dealloc(outbound)
    srtp_dealloc(inbound)
  }

  /// Each operation works in place on the first `count` bytes and returns the new length.
  @_lifetime(packet: copy packet)
  package func protectRTP(_ packet: inout MutableSpan<UInt8>, count: Int) throws(Failure) -> Int {
    precondition(packet.count - count >= Self.headroom)
    var length = CInt(count)
    try Self.check(packet.withUnsafeMutableBytes { srtp_protect(outbound, $0.baseAddress, &length) })
    return Int(length)
  }

  @_lifetime(packet: copy packet)
  package func protectRTCP(_ packet: inout MutableSpan<UInt8>, count: Int) throws(Failure) -> Int {
    precondition(packet.count - count >= Self.headroom)
    var length = CInt(count)
    try Self.check(packet.withUnsafeMutableBytes { srtp_protect_rtcp(outbound, $0.baseAddress, &length) })
    return Int(length)
  }

  @_lifetime(packet: copy packet)
  package func unprotectRTP(_ packet: inout MutableSpan<UInt8>) throws(Failure) -> Int {
    var length = CInt(packet.count)
    try Self.check(packet.withUnsafeMutableBytes { srtp_unprotect(inbound, $0.baseAddress, &length) })
    return Int(length)
  }

  @_lifetime(packet: copy packet)
  package func unprotectRTCP(_ packet: inout MutableSpan<UInt8>) throws(Failure) -> Int {
    var length = CInt(packet.count)
    try Self.check(packet.withUnsafeMutableBytes { srtp_unprotect_rtcp(inbound, $0.baseAddress, &length) })
    return Int(length)
  }

  private static let initialized = srtp_init()

  private static func makeContext(
    _ sources: srtp_ssrc_type_t, _ profile: SRTPProfile, _ master: SRTPMasterKey
  ) throws(Failure) -> OpaquePointer {
    var policy = srtp_policy_t()
    switch profile {
    case .aes128CmSha1_80:
      srtp_crypto_policy_set_rtp_default(&policy.rtp)
      srtp_crypto_policy_set_rtcp_default(&policy.rtcp)
    case .aeadAes128Gcm:
      srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
      srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
    }
    policy.ssrc.type = sources
    policy.window_size = 1024
    var keyAndSalt = master.key + master.salt
    var created: OpaquePointer?
    try check(
      keyAndSalt.withUnsafeMutableBufferPointer { bytes in
        policy.key = bytes.baseAddress  // srtp_create copies it
        return srtp_create(&created, &policy)
      })
    return created!
  }

  private static func check(_ status: srtp_err_status_t) throws(Failure) {
    guard status == srtp_err_status_ok else { throw Failure(status: UInt32(status.rawValue)) }
  }
}
