import COpenSSL
package import RTCPrimitives

/// SRTP and SRTCP (RFC 3711, RFC 7714) between two peers: encrypts outgoing packets, verifies and decrypts incoming
/// ones, in place, with OpenSSL's ciphers, without allocation once an SSRC is known. Rollover counters and replay
/// windows (1024 packets) are kept per SSRC. Any SSRC is served; of incoming sources, the last `PeerLimits.sources` are
/// remembered. Owned by one thread.
package struct SRTPSession: ~Copyable {
  /// The free bytes that must follow a packet to be protected; more than any profile adds.
  package static let headroom = 32

  /// The profile of both directions.
  package let profile: SRTPProfile
  private var outbound: OutboundSRTP
  private var inbound: InboundSRTP

  /// Throws when OpenSSL fails, which no peer can cause.
  package init(keys: SRTPKeys) throws(SRTPError) {
    try self.init(
      profile: keys.profile, local: SRTPSessionKeys(keys.local, keys.profile),
      remote: SRTPSessionKeys(keys.remote, keys.profile))
  }

  /// With keys that were derived elsewhere.
  /// - Parameter limits: how many packets and reports `local` may protect.
  package init(
    profile: SRTPProfile, local: SRTPSessionKeys, remote: SRTPSessionKeys,
    limits: (packets: UInt64, reports: UInt64) = (PacketIndex.limit, ReportIndex.limit)
  ) throws(SRTPError) {
    let outbound = try OutboundSRTP(profile, local, limits: limits)
    let inbound = try InboundSRTP(profile, remote)
    self.profile = profile
    self.outbound = outbound
    self.inbound = inbound
  }

  /// Encrypts and authenticates the RTP packet in the first `count` bytes of `packet`.
  ///
  /// Sequence numbers may be out of order within the last 1024, but never repeated: a retransmission is a packet of its
  /// own on the RTX stream.
  /// - Returns: the length of the encrypted packet.
  /// - Throws: `malformed`, `replayed`, `tooOld`, `keyExpired`; the bytes are then undefined and must not be sent.
  @_lifetime(packet: copy packet)
  package mutating func protectRTP(_ packet: inout MutableSpan<UInt8>, count: Int) throws(SRTPError) -> Int {
    Self.checkHeadroom(packet.count, count)
    return try outbound.protectRTP(&packet, count: count)
  }

  /// Encrypts and authenticates the compound RTCP packet in the first `count` bytes of `packet`, and appends its index.
  /// - Returns: the protected packet's length.
  @_lifetime(packet: copy packet)
  package mutating func protectRTCP(_ packet: inout MutableSpan<UInt8>, count: Int) throws(SRTPError) -> Int {
    Self.checkHeadroom(packet.count, count)
    return try outbound.protectRTCP(&packet, count: count)
  }

  /// Checks and decrypts the SRTP packet that fills `packet`.
  /// - Returns: the RTP packet's length, at the start of `packet`.
  /// - Throws: the reason to drop it; the bytes are then undefined. State moves only for packets that authenticate.
  @_lifetime(packet: copy packet)
  package mutating func unprotectRTP(_ packet: inout MutableSpan<UInt8>) throws(SRTPError) -> Int {
    try inbound.unprotectRTP(&packet)
  }

  /// Checks and decrypts the SRTCP packet that fills `packet`.
  /// - Returns: the RTCP packet's length, at the start of `packet`.
  @_lifetime(packet: copy packet)
  package mutating func unprotectRTCP(_ packet: inout MutableSpan<UInt8>) throws(SRTPError) -> Int {
    try inbound.unprotectRTCP(&packet)
  }

  /// The number of incoming sources remembered, for tests.
  package var inboundSources: Int { inbound.sourceCount }

  private static func checkHeadroom(_ room: Int, _ count: Int) {
    precondition(
      count >= 0 && room - count >= headroom, "SRTPSession: a packet to protect needs `headroom` free bytes after it")
  }
}

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
