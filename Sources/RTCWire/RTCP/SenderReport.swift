public import RTCPrimitives

/// Sender report, without its report blocks, which `ReportBlocks` reads (RFC 3550 §6.4.1).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |V=2|P|    RC   |   PT=SR=200   |            length             |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                         SSRC of sender                        |
/// +=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+
/// |                     NTP timestamp (64 bits)                   |
/// |                                                               |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                         RTP timestamp                         |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                     sender's packet count                     |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                      sender's octet count                     |
/// +=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+
/// |                        report blocks …                        |
/// ```
public struct SenderReport: Hashable, Sendable, BitwiseCopyable {
  /// The body's length without report blocks.
  static let fixedSize = 24

  /// The SSRC of the stream that the report is on.
  public var sender: SSRC
  /// The moment of the report on the wall clock, and the same moment on the media clock.
  public var ntpTime: NTPTimestamp
  /// The moment of `ntpTime` on the stream's media clock.
  public var rtpTime: RTPTimestamp
  /// Packets sent since the stream began, modulo 2³².
  public var packetCount: UInt32
  /// Payload bytes sent since the stream began, modulo 2³².
  public var octetCount: UInt32

  /// A report on the stream `sender`; its blocks are given to `write`.
  public init(
    sender: SSRC, ntpTime: NTPTimestamp, rtpTime: RTPTimestamp, packetCount: UInt32, octetCount: UInt32
  ) {
    self.sender = sender
    self.ntpTime = ntpTime
    self.rtpTime = rtpTime
    self.packetCount = packetCount
    self.octetCount = octetCount
  }

  /// Nil if `packet` is not a sender report, or is too short for its counts.
  public init?(parsing packet: RTCPPacket) {
    let body = packet.body
    guard packet.kind == .senderReport, body.count >= Self.fixedSize + packet.count * ReportBlock.size
    else { return nil }
    sender = SSRC(body.networkOrder32(at: 0))
    ntpTime = NTPTimestamp(body.networkOrder64(at: 4))
    rtpTime = RTPTimestamp(body.networkOrder32(at: 12))
    packetCount = body.networkOrder32(at: 16)
    octetCount = body.networkOrder32(at: 20)
  }

  /// The whole packet's length with `reports` blocks.
  public static func size(reports: Int = 0) -> Int {
    RTCPPacket.headerSize + fixedSize + reports * ReportBlock.size
  }

  /// Writes the packet with up to 31 report blocks.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter, reports: Span<ReportBlock> = Span()) {
    let size = Self.fixedSize + reports.count * ReportBlock.size
    writer.writeRTCPHeader(type: RTCPPacket.TypeCode.senderReport, count: reports.count, bodySize: size)
    writer.write(sender.value)
    writer.write(ntpTime.value)
    writer.write(rtpTime.value)
    writer.write(packetCount)
    writer.write(octetCount)
    for index in reports.indices { reports[index].write(into: &writer) }
  }
}
