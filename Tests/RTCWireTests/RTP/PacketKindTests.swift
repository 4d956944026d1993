import RTCWire
import Testing

@Suite struct PacketKindTests {
  @Test(
    arguments: [
      ([0x00, 0x01], .stun), ([0x03], .stun), ([0x16, 0xFE], .dtls), ([0x3F], .dtls), ([0x40, 0x00], .turnChannel),
      ([0x80, 0x60], .rtp), ([0x90, 0xE0], .rtp), ([0x80, 0xC8], .rtcp), ([0x81, 0xCD], .rtcp), ([0xBF, 0xDF], .rtcp),
      ([0x80, 0xBF], .rtp), ([0x80, 0xE1], .rtp), ([0x80], nil), ([0x04], nil), ([0x13], nil), ([0x50], nil),
      ([0x7F, 0x00], nil), ([0xC0, 0x00], nil), ([0xFF], nil), ([], nil),
    ] as [([UInt8], PacketKind?)]) func `the first two bytes tell the protocol`(datagram: [UInt8], kind: PacketKind?)
  {
    #expect(parsing(datagram, PacketKind.init) == kind)
  }
}
