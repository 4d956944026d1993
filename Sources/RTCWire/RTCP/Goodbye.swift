public import RTCPrimitives

/// Goodbye: sources that stop sending (RFC 3550 §6.6). The optional reason is passed over on parsing.
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |V=2|P|    SC   |   PT=BYE=203  |             length            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                          SSRC/CSRC …                          |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |     length    |               reason (optional) …
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
public struct Goodbye: ~Escapable {
  private let bytes: Span<UInt8>
  /// The number of sources, 0…31.
  public let count: Int

  /// Nil when `packet` is no goodbye or too short for the sources it promises.
  @_lifetime(copy packet)
  public init?(parsing packet: RTCPPacket) {
    guard packet.kind == .goodbye, packet.body.count >= 4 * packet.count else { return nil }
    bytes = packet.body.extracting(0..<4 * packet.count)
    count = packet.count
  }

  /// Source `index`, which must be below `count`.
  public subscript(index: Int) -> SSRC { SSRC(bytes.networkOrder32(at: 4 * index)) }

  /// The whole packet's length for `sources` sources.
  public static func size(sources: Int) -> Int { RTCPPacket.headerSize + 4 * sources }

  /// Writes a packet for at most 31 sources.
  @_lifetime(writer: copy writer)
  public static func write(_ sources: Span<SSRC>, into writer: inout ByteWriter) {
    writer.writeRTCPHeader(type: RTCPPacket.TypeCode.goodbye, count: sources.count, bodySize: 4 * sources.count)
    for index in sources.indices { writer.write(sources[index].value) }
  }
}
