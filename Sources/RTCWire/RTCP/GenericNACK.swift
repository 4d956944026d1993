public import RTCPrimitives

/// Generic NACK: sequence numbers a receiver misses (RFC 4585 §6.2.1), iterated in the order they are written.
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |V=2|P|  FMT=1  |   PT=205      |          length               |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                  SSRC of packet sender                        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                  SSRC of media source                         |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |            PID                |             BLP             … |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
///
/// PID is a missing packet, bit i of BLP (from the lowest, counting from 1) says that PID + i is missing too.
public struct GenericNACK: ~Escapable {
  /// The SSRC of the packet's sender.
  public let sender: SSRC
  /// The stream whose packets are missing.
  public let media: SSRC
  private let pairs: Span<UInt8>
  private var offset = 0
  /// The next number to look at in the pair at `offset`: 0 is PID itself, 1…16 the bits of BLP.
  private var position: UInt16 = 0

  /// Nil when `packet` is no generic NACK or holds no whole pair.
  @_lifetime(copy packet)
  public init?(parsing packet: RTCPPacket) {
    guard packet.kind == .genericNACK, let (sender, media) = packet.feedbackSources else { return nil }
    let information = packet.feedbackInformation
    guard information.count >= 4 else { return nil }
    self.sender = sender
    self.media = media
    pairs = information
  }

  /// The next missing sequence number, nil at the end.
  @_lifetime(self: copy self)
  public mutating func next() -> SequenceNumber? {
    while pairs.count - offset >= 4 {
      let first = pairs.networkOrder16(at: offset)
      let mask = pairs.networkOrder16(at: offset + 2)
      while position <= 16 {
        let here = position
        position += 1
        if here == 0 || mask >> (here - 1) & 1 == 1 { return SequenceNumber(first &+ here) }
      }
      offset += 4
      position = 0
    }
    return nil
  }

  /// Writes one packet for `lost`, which must be in wrapping order, oldest first.
  /// - Returns: how many of `lost` went in; fewer than all when the writer's room ends first, 0 when not even one fits.
  @_lifetime(writer: copy writer)
  @discardableResult
  public static func write(
    sender: SSRC, media: SSRC, lost: Span<SequenceNumber>, into writer: inout ByteWriter
  ) -> Int {
    guard lost.count > 0, writer.remaining >= 16 else { return 0 }
    let start = writer.offset
    writer.writeRTCPHeader(type: RTCPPacket.TypeCode.transportFeedback, count: 1, bodySize: 0)
    writer.write(sender.value)
    writer.write(media.value)
    var index = 0
    while index < lost.count, writer.remaining >= 4 {
      let first = lost[index]
      var mask: UInt16 = 0
      index += 1
      while index < lost.count {
        let ahead = lost[index].distance(from: first)
        guard (1...16).contains(ahead) else { break }
        mask |= 1 << UInt16(ahead - 1)
        index += 1
      }
      writer.write(first.value)
      writer.write(mask)
    }
    writer.overwrite(UInt16((writer.offset - start) / 4 - 1), at: start + 2)
    return index
  }
}
