package import RTCPrimitives

/// SRTP and SRTCP (RFC 3711, RFC 7714) between two peers: protects what goes out, checks and opens what comes in, in
/// place, without allocating once an SSRC has been seen. Rollover counters and replay windows (1024 packets) are kept
/// per SSRC. Any SSRC is served; of those that come in, the `PeerLimits.sources` that were heard last are remembered. Owned
/// by one thread.
package struct SRTPSession: ~Copyable {
  /// The free bytes that must follow a packet to be protected; more than any profile adds.
  package static let headroom = 32

  /// The profile of both directions.
  package let profile: SRTPProfile
  private let outbound: SRTPContext
  private let inbound: SRTPContext
  /// Those that `inbound` knows.
  private var sources = InboundSources()

  /// Sets up libsrtp2, once a process, which may take tens of milliseconds; else the first session does it. Any thread.
  package static func prepare() { _ = SRTPContext.libraryFailure }

  /// Throws when libsrtp2 cannot be set up, which no peer can cause.
  package init(keys: SRTPKeys) throws(SRTPError) {
    let outbound = try SRTPContext(.outbound, profile: keys.profile, master: keys.local)
    let inbound = try SRTPContext(.inbound, profile: keys.profile, master: keys.remote)
    profile = keys.profile
    self.outbound = outbound
    self.inbound = inbound
  }

  /// Encrypts and authenticates the RTP packet in the first `count` bytes of `packet`.
  ///
  /// Sequence numbers may go out of order within the last 1024, but never twice: a retransmission is a packet of its
  /// own on the RTX stream.
  /// - Returns: the protected packet's length.
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
  /// - Throws: the reason to drop it. State moves only for packets that authenticate.
  @_lifetime(packet: copy packet)
  package mutating func unprotectRTP(_ packet: inout MutableSpan<UInt8>) throws(SRTPError) -> Int {
    let count = try inbound.unprotectRTP(&packet)
    heard(packet.span, at: 8)
    return count
  }

  /// Checks and decrypts the SRTCP packet that fills `packet`.
  /// - Returns: the RTCP packet's length, at the start of `packet`.
  @_lifetime(packet: copy packet)
  package mutating func unprotectRTCP(_ packet: inout MutableSpan<UInt8>) throws(SRTPError) -> Int {
    let count = try inbound.unprotectRTCP(&packet)
    heard(packet.span, at: 4)
    return count
  }

  /// How many sources are remembered of what comes in.
  package var inboundSources: Int { sources.count }

  /// libsrtp2 keeps every source from which a genuine packet came for good, in a list that it goes through for each packet:
  /// whoever has the keys could make it grow without end.
  private mutating func heard(_ packet: Span<UInt8>, at offset: Int) {
    let source = (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(packet[offset + $1]) }
    if let silent = sources.heard(SSRC(source)) { inbound.remove(silent) }
  }

  private static func checkHeadroom(_ room: Int, _ count: Int) {
    precondition(
      count >= 0 && room - count >= headroom, "SRTPSession: a packet to protect needs `headroom` free bytes after it")
  }
}
