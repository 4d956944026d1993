/// AES_CM_128_HMAC_SHA1_80 (RFC 3711 §4.1.1, §4.2.1) with the keys of SRTP or of SRTCP, either way.
struct CounterModeTransform: ~Copyable {
  /// HMAC-SHA-1 cut to 80 bits.
  static let tagSize = 10

  private let cipher: AES128
  private let authentication: HMACSHA1
  private let salt: UInt128

  init(_ keys: SRTPSessionKeys.Stream) throws(SRTPError) {
    cipher = try AES128(.counterMode, key: keys.encryption)
    authentication = HMACSHA1(key: keys.authentication)
    salt = keys.leadingSalt
  }

  @_lifetime(packet: copy packet)
  func sealRTP(
    _ packet: inout MutableSpan<UInt8>, header: Int, count: Int, source: UInt32, index: UInt64
  ) throws(SRTPError) -> Int {
    try cipher.start(iv: iv(source, index))
    try cipher.apply(to: &packet, header..<count)
    // The roll-over counter is authenticated and not sent.
    writeTag(to: &packet, at: count, followedBy: UInt32(truncatingIfNeeded: index >> 16))
    return count + Self.tagSize
  }

  @_lifetime(packet: copy packet)
  func openRTP(
    _ packet: inout MutableSpan<UInt8>, header: Int, source: UInt32, index: UInt64
  ) throws(SRTPError) -> Int {
    let count = packet.count - Self.tagSize
    try checkTag(of: packet.span, at: count, followedBy: UInt32(truncatingIfNeeded: index >> 16))
    try cipher.start(iv: iv(source, index))
    try cipher.apply(to: &packet, header..<count)
    return count
  }

  /// The tag follows the index (RFC 3711 §3.4).
  @_lifetime(packet: copy packet)
  func sealRTCP(
    _ packet: inout MutableSpan<UInt8>, count: Int, source: UInt32, index: UInt32
  ) throws(SRTPError) -> Int {
    try cipher.start(iv: iv(source, UInt64(index)))
    try cipher.apply(to: &packet, SRTCPLayout.headerSize..<count)
    SRTCPLayout.write(index, to: &packet, at: count)
    writeTag(to: &packet, at: count + SRTCPLayout.indexSize, followedBy: nil)
    return count + SRTCPLayout.indexSize + Self.tagSize
  }

  @_lifetime(packet: copy packet)
  func openRTCP(
    _ packet: inout MutableSpan<UInt8>, source: UInt32, index: UInt32
  ) throws(SRTPError) -> Int {
    let end = packet.count - Self.tagSize
    let count = end - SRTCPLayout.indexSize
    try checkTag(of: packet.span, at: end, followedBy: nil)
    try cipher.start(iv: iv(source, UInt64(index)))
    try cipher.apply(to: &packet, SRTCPLayout.headerSize..<count)
    return count
  }

  @_lifetime(packet: copy packet)
  private func writeTag(to packet: inout MutableSpan<UInt8>, at offset: Int, followedBy word: UInt32?) {
    let digest = authentication.digest(of: packet.span.extracting(0..<offset), followedBy: word)
    for place in 0..<Self.tagSize { packet[offset + place] = digest[place] }
  }

  /// Takes as long for any tag.
  private func checkTag(of packet: Span<UInt8>, at offset: Int, followedBy word: UInt32?) throws(SRTPError) {
    let digest = authentication.digest(of: packet.extracting(0..<offset), followedBy: word)
    var difference: UInt8 = 0
    for place in 0..<Self.tagSize { difference |= digest[place] ^ packet[offset + place] }
    guard difference == 0 else { throw .authenticationFailed }
  }

  /// The first counter block: the source and the index over the salt, and 16 bits that count blocks (RFC 3711 §4.1.1).
  private func iv(_ source: UInt32, _ index: UInt64) -> UInt128 {
    salt ^ UInt128(source) << 64 ^ UInt128(index) << 16
  }
}
