import RTCPrimitives

/// Encrypts the packets of one side: any SSRC, each with its own roll-over counter, replay window and SRTCP index.
struct OutboundSRTP: ~Copyable {
  private let rtp: PacketTransform
  private let rtcp: PacketTransform
  private var sources = SRTPSources(limit: nil)
  private var packets: KeyUse
  private var reports: KeyUse

  /// - Parameter limits: how many packets and reports the keys may protect.
  init(
    _ profile: SRTPProfile, _ keys: SRTPSessionKeys, limits: (packets: UInt64, reports: UInt64)
  ) throws(SRTPError) {
    let rtp = try PacketTransform(.outbound, profile, keys.rtp)
    let rtcp = try PacketTransform(.outbound, profile, keys.rtcp)
    self.rtp = rtp
    self.rtcp = rtcp
    packets = KeyUse(limit: limits.packets)
    reports = KeyUse(limit: limits.reports)
  }

  @_lifetime(packet: copy packet)
  mutating func protectRTP(_ packet: inout MutableSpan<UInt8>, count: Int) throws(SRTPError) -> Int {
    guard let layout = SRTPLayout(packet.span.extracting(0..<count), trailer: 0) else { throw .malformed }
    let place = sources.find(layout.source)
    let index = try sources.checkedIndex(of: layout, at: place)
    try packets.spend()
    let length = try rtp.sealRTP(
      &packet, header: layout.header, count: count, source: layout.source, index: index)
    sources.note(layout.source, at: place) { $0.media.take(index) }
    return length
  }

  @_lifetime(packet: copy packet)
  mutating func protectRTCP(_ packet: inout MutableSpan<UInt8>, count: Int) throws(SRTPError) -> Int {
    guard let layout = SRTCPLayout(packet.span.extracting(0..<count), trailer: 0) else { throw .malformed }
    let place = sources.find(layout.source)
    try reports.spend()
    var next = sources.nextReport(at: place)
    let index = try next.take()
    let length = try rtcp.sealRTCP(&packet, count: count, source: layout.source, index: index)
    sources.note(layout.source, at: place) { $0.nextReport = next }
    return length
  }
}

/// How many packets a key has protected, of all its sources together.
package struct KeyUse {
  private var left: UInt64

  /// - Parameter limit: how many it may protect (RFC 3711 §9.2).
  package init(limit: UInt64) { left = limit }

  /// To precede each packet.
  /// - Throws: `keyExpired` when the limit is reached.
  package mutating func spend() throws(SRTPError) {
    guard left > 0 else { throw .keyExpired }
    left -= 1
  }
}
