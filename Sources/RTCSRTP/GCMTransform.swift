/// AEAD_AES_128_GCM (RFC 7714) with the keys of SRTP or of SRTCP, one way.
struct GCMTransform: ~Copyable {
  static let tagSize = AES128.tagSize

  private let cipher: AES128
  private let salt: UInt128

  init(_ direction: PacketTransform.Direction, _ keys: SRTPSessionKeys.Stream) throws(SRTPError) {
    cipher = try AES128(direction == .outbound ? .sealing : .opening, key: keys.encryption)
    salt = keys.leadingSalt
  }

  @_lifetime(packet: copy packet)
  func sealRTP(
    _ packet: inout MutableSpan<UInt8>, header: Int, count: Int, source: UInt32, index: UInt64
  ) throws(SRTPError) -> Int {
    try cipher.start(iv: iv(source, index))
    try cipher.authenticate(packet.span.extracting(0..<header))
    try cipher.apply(to: &packet, header..<count)
    try cipher.writeTag(to: &packet, at: count)
    return count + Self.tagSize
  }

  @_lifetime(packet: copy packet)
  func openRTP(
    _ packet: inout MutableSpan<UInt8>, header: Int, source: UInt32, index: UInt64
  ) throws(SRTPError) -> Int {
    let count = packet.count - Self.tagSize
    try cipher.start(iv: iv(source, index))
    try cipher.authenticate(packet.span.extracting(0..<header))
    try cipher.apply(to: &packet, header..<count)
    try cipher.checkTag(of: &packet, at: count)
    return count
  }

  /// The index follows the tag (RFC 7714 §9.2).
  @_lifetime(packet: copy packet)
  func sealRTCP(
    _ packet: inout MutableSpan<UInt8>, count: Int, source: UInt32, index: UInt32
  ) throws(SRTPError) -> Int {
    let end = count + Self.tagSize
    SRTCPLayout.write(index, to: &packet, at: end)
    try cipher.start(iv: iv(source, UInt64(index)))
    try cipher.authenticate(packet.span.extracting(0..<SRTCPLayout.headerSize))
    try cipher.authenticate(packet.span.extracting(end..<end + SRTCPLayout.indexSize))
    try cipher.apply(to: &packet, SRTCPLayout.headerSize..<count)
    try cipher.writeTag(to: &packet, at: count)
    return end + SRTCPLayout.indexSize
  }

  @_lifetime(packet: copy packet)
  func openRTCP(
    _ packet: inout MutableSpan<UInt8>, source: UInt32, index: UInt32
  ) throws(SRTPError) -> Int {
    let end = packet.count - SRTCPLayout.indexSize
    let count = end - Self.tagSize
    try cipher.start(iv: iv(source, UInt64(index)))
    try cipher.authenticate(packet.span.extracting(0..<SRTCPLayout.headerSize))
    try cipher.authenticate(packet.span.extracting(end..<packet.count))
    try cipher.apply(to: &packet, SRTCPLayout.headerSize..<count)
    try cipher.checkTag(of: &packet, at: count)
    return count
  }

  /// Two zero bytes, the source, and six bytes of index, over the salt (RFC 7714 §8.1, §9.1).
  private func iv(_ source: UInt32, _ index: UInt64) -> UInt128 {
    salt ^ UInt128(source) << 80 ^ UInt128(index) << 32
  }
}
