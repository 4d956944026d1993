import CSRTP
import RTCPrimitives

/// One direction's libsrtp2 context; any SSRC, each with its own rollover counter and replay window.
/// Owned by one thread.
@safe struct SRTPContext: ~Copyable {
  enum Direction {
    case inbound
    case outbound
  }

  private let context: OpaquePointer

  init(_ direction: Direction, profile: SRTPProfile, master: SRTPMasterKey) throws(SRTPError) {
    if let failure = Self.libraryFailure { throw failure }
    precondition(
      master.key.count == profile.keyLength && master.salt.count == profile.saltLength,
      "SRTPContext: the key or the salt has not the profile's length")
    var policy = unsafe srtp_policy_t()
    unsafe Self.setCrypto(of: &policy, profile)
    unsafe policy.ssrc.type = direction == .inbound ? ssrc_any_inbound : ssrc_any_outbound
    unsafe policy.window_size = 1024
    var keyAndSalt = master.key + master.salt
    var created: OpaquePointer?
    let status = unsafe keyAndSalt.withUnsafeMutableBufferPointer { bytes in
      unsafe policy.key = bytes.baseAddress  // srtp_create copies it
      return unsafe srtp_create(&created, &policy)
    }
    if let failure = SRTPError(status) { throw failure }
    guard let created = unsafe created else { throw .library(status: srtp_err_status_alloc_fail.rawValue) }
    unsafe context = created
  }

  deinit { _ = unsafe srtp_dealloc(context) }

  /// Forgets a source: its rollover counter and replay window. Harmless when it is not known.
  func remove(_ source: SSRC) {
    // libsrtp2 compares sources as they stand in packets.
    _ = unsafe srtp_remove_stream(context, source.value.bigEndian)
  }

  /// Each operation works in place on the first `count` bytes and returns the new length.
  @_lifetime(packet: copy packet)
  func protectRTP(_ packet: inout MutableSpan<UInt8>, count: Int) throws(SRTPError) -> Int {
    var length = CInt(count)
    let status = unsafe packet.withUnsafeMutableBytes { unsafe srtp_protect(context, $0.baseAddress, &length) }
    if let failure = SRTPError(status) { throw failure }
    return Int(length)
  }

  @_lifetime(packet: copy packet)
  func protectRTCP(_ packet: inout MutableSpan<UInt8>, count: Int) throws(SRTPError) -> Int {
    var length = CInt(count)
    let status = unsafe packet.withUnsafeMutableBytes { unsafe srtp_protect_rtcp(context, $0.baseAddress, &length) }
    if let failure = SRTPError(status) { throw failure }
    return Int(length)
  }

  @_lifetime(packet: copy packet)
  func unprotectRTP(_ packet: inout MutableSpan<UInt8>) throws(SRTPError) -> Int {
    var length = CInt(packet.count)
    let status = unsafe packet.withUnsafeMutableBytes { unsafe srtp_unprotect(context, $0.baseAddress, &length) }
    if let failure = SRTPError(status) { throw failure }
    return Int(length)
  }

  @_lifetime(packet: copy packet)
  func unprotectRTCP(_ packet: inout MutableSpan<UInt8>) throws(SRTPError) -> Int {
    var length = CInt(packet.count)
    let status = unsafe packet.withUnsafeMutableBytes { unsafe srtp_unprotect_rtcp(context, $0.baseAddress, &length) }
    if let failure = SRTPError(status) { throw failure }
    return Int(length)
  }

  /// The library's self-test and tables, once a process; nil when it went well. Takes tens of milliseconds where libsrtp2
  /// stands on NSS.
  static let libraryFailure = SRTPError(srtp_init())

  private static func setCrypto(of policy: inout srtp_policy_t, _ profile: SRTPProfile) {
    switch profile {
    case .aes128CmSha1_80:
      unsafe srtp_crypto_policy_set_rtp_default(&policy.rtp)
      unsafe srtp_crypto_policy_set_rtcp_default(&policy.rtcp)
    case .aeadAes128Gcm:
      unsafe srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
      unsafe srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
    }
  }
}
