public import RTCPrimitives

/// Receiver report, without its report blocks, which `ReportBlocks` reads (RFC 3550 §6.4.2).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |V=2|P|    RC   |   PT=RR=201   |            length             |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                     SSRC of packet sender                     |
/// +=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+
/// |                        report blocks …                        |
/// ```
public struct ReceiverReport: Hashable, Sendable, BitwiseCopyable {
  /// The body's length without report blocks.
  static let fixedSize = 4

  /// The SSRC of the report's sender.
  public var sender: SSRC

  /// A report by `sender`; its blocks are given to `write`.
  public init(sender: SSRC) { self.sender = sender }

  /// Nil if `packet` is not a receiver report, or is too short for its counts.
  public init?(parsing packet: RTCPPacket) {
    let body = packet.body
    guard packet.kind == .receiverReport, body.count >= Self.fixedSize + packet.count * ReportBlock.size
    else { return nil }
    sender = SSRC(body.networkOrder32(at: 0))
  }

  /// The whole packet's length with `reports` blocks.
  public static func size(reports: Int = 0) -> Int {
    RTCPPacket.headerSize + fixedSize + reports * ReportBlock.size
  }

  /// Writes the packet with up to 31 report blocks.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter, reports: Span<ReportBlock> = Span()) {
    let size = Self.fixedSize + reports.count * ReportBlock.size
    writer.writeRTCPHeader(type: RTCPPacket.TypeCode.receiverReport, count: reports.count, bodySize: size)
    writer.write(sender.value)
    for index in reports.indices { reports[index].write(into: &writer) }
  }
}
