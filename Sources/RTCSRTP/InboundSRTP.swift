import RTCPrimitives

/// Verifies and decrypts a peer's packets: any SSRC; the last `PeerLimits.sources` sources are remembered. A packet
/// that is not authentic changes nothing.
struct InboundSRTP: ~Copyable {
  private let profile: SRTPProfile
  private let rtp: PacketTransform
  private let rtcp: PacketTransform
  /// Limited, since a peer with the keys could make it grow without end.
  private var sources = SRTPSources(limit: PeerLimits.sources)

  init(_ profile: SRTPProfile, _ keys: SRTPSessionKeys) throws(SRTPError) {
    self.profile = profile
    let rtp = try PacketTransform(.inbound, profile, keys.rtp)
    let rtcp = try PacketTransform(.inbound, profile, keys.rtcp)
    self.rtp = rtp
    self.rtcp = rtcp
  }

  /// How many are remembered.
  var sourceCount: Int { sources.count }

  @_lifetime(packet: copy packet)
  mutating func unprotectRTP(_ packet: inout MutableSpan<UInt8>) throws(SRTPError) -> Int {
    guard let layout = SRTPLayout(packet.span, trailer: profile.rtpOverhead) else { throw .malformed }
    let place = sources.find(layout.source)
    let index = try sources.checkedIndex(of: layout, at: place)
    let length = try rtp.openRTP(&packet, header: layout.header, source: layout.source, index: index)
    sources.note(layout.source, at: place) { $0.media.take(index) }
    return length
  }

  @_lifetime(packet: copy packet)
  mutating func unprotectRTCP(_ packet: inout MutableSpan<UInt8>) throws(SRTPError) -> Int {
    guard let layout = SRTCPLayout(packet.span, trailer: profile.rtcpOverhead) else { throw .malformed }
    let end = packet.count - SRTCPLayout.indexSize
    let indexOffset = profile == .aeadAes128Gcm ? end : end - CounterModeTransform.tagSize
    guard let index = SRTCPLayout.index(in: packet.span, at: indexOffset) else { throw .malformed }
    let place = sources.find(layout.source)
    try sources.checkReport(UInt64(index), at: place)
    let length = try rtcp.openRTCP(&packet, source: layout.source, index: index)
    sources.note(layout.source, at: place) { $0.reports.take(UInt64(index)) }
    return length
  }
}
