/// Walks the packets of an RTCP datagram (RFC 3550 §6.1; reduced-size compounds of RFC 5506 included) without allocating.
///
/// The whole datagram is checked before the first packet is handed out: a datagram is taken entirely or not at all.
public struct RTCPCompound: ~Escapable {
  private let bytes: Span<UInt8>
  private var offset = 0

  /// Padding need not be a multiple of four bytes, as RFC 3550 wants it: libwebrtc pads transport feedback by 1 to 3.
  ///
  /// Nil when the datagram is empty, a version is not 2, a length runs past the end, bytes are left over, or padding
  /// is malformed or stands anywhere but on the last packet (RFC 3550 §6.4.1).
  @_lifetime(copy datagram)
  public init?(parsing datagram: Span<UInt8>) {
    guard datagram.count > 0 else { return nil }
    var offset = 0
    while offset < datagram.count {
      guard datagram.count - offset >= RTCPPacket.headerSize, datagram[offset] >> 6 == 2 else { return nil }
      let size = Self.packetSize(in: datagram, at: offset)
      guard size <= datagram.count - offset else { return nil }
      let end = offset + size
      if datagram[offset] & 0x20 != 0 {
        let padding = Int(datagram[end - 1])
        guard end == datagram.count, padding > 0, padding <= size - RTCPPacket.headerSize
        else { return nil }
      }
      offset = end
    }
    bytes = datagram
  }

  /// The next packet, or nil at the end.
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  public mutating func next() -> RTCPPacket? {
    guard offset < bytes.count else { return nil }
    let start = offset
    let end = start + Self.packetSize(in: bytes, at: start)
    let padding = bytes[start] & 0x20 != 0 ? Int(bytes[end - 1]) : 0
    let count = bytes[start] & 0x1F
    offset = end
    return RTCPPacket(
      kind: RTCPPacketKind(type: bytes[start + 1], format: count), count: Int(count),
      body: bytes.extracting(start + RTCPPacket.headerSize..<end - padding))
  }

  private static func packetSize(in bytes: Span<UInt8>, at offset: Int) -> Int {
    4 * (Int(bytes.networkOrder16(at: offset + 2)) + 1)
  }
}
