import RTCPrimitives

/// The parts of an RTP packet that SRTP has to know (RFC 3550 §5.1, RFC 3711 §3.1).
struct SRTPLayout {
  /// Header, CSRCs and header extension, which stay in the clear.
  let header: Int
  let source: UInt32
  let sequenceNumber: UInt16

  /// Nil if the packet is not RTP, or has less than `trailer` bytes after its header.
  init?(_ packet: Span<UInt8>, trailer: Int) {
    guard packet.count >= 12 + trailer, packet[0] >> 6 == 2 else { return nil }
    var size = 12 + 4 * Int(packet[0] & 0x0F)
    if packet[0] & 0x10 != 0 {
      guard packet.count >= size + 4 else { return nil }
      size += 4 + 4 * (Int(packet[size + 2]) << 8 | Int(packet[size + 3]))
    }
    guard packet.count >= size + trailer else { return nil }
    header = size
    sequenceNumber = UInt16(packet[2]) << 8 | UInt16(packet[3])
    source = packet.word(at: 8)
  }
}

/// The parts of an SRTCP packet (RFC 3711 §3.4).
struct SRTCPLayout {
  /// The first packet's header and the sender's SSRC, which stay in the clear.
  static let headerSize = 8
  /// The E bit and the index.
  static let indexSize = 4
  private static let encryptedBit: UInt32 = 1 << 31

  let source: UInt32

  /// Nil if the packet is not RTCP, or has less than `trailer` bytes after its header.
  init?(_ packet: Span<UInt8>, trailer: Int) {
    guard packet.count >= Self.headerSize + trailer, packet[0] >> 6 == 2 else { return nil }
    source = packet.word(at: 4)
  }

  /// The index at `offset`; nil where the packet is said not to be encrypted, which WebRTC has no use for (RFC 8827 §6.5).
  static func index(in packet: Span<UInt8>, at offset: Int) -> UInt32? {
    let word = packet.word(at: offset)
    return word & encryptedBit == 0 ? nil : word & ~encryptedBit
  }

  @_lifetime(packet: copy packet)
  static func write(_ index: UInt32, to packet: inout MutableSpan<UInt8>, at offset: Int) {
    let word = index | encryptedBit
    for place in 0..<indexSize { packet[offset + place] = UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * place)) }
  }
}

extension Span<UInt8> {
  /// Four bytes in network order.
  fileprivate func word(at offset: Int) -> UInt32 {
    UInt32(self[offset]) << 24 | UInt32(self[offset + 1]) << 16 | UInt32(self[offset + 2]) << 8
      | UInt32(self[offset + 3])
  }
}
