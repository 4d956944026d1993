public import RTCPrimitives

/// REMB: the bit rate a receiver thinks the path can carry (draft-alvestrand-rmcat-remb-03 §2.2).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |V=2|P| FMT=15  |   PT=206      |             length            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                  SSRC of packet sender                        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                  unused, 0                                    |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  Unique identifier 'R' 'E' 'M' 'B'                            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  Num SSRC     | BR Exp    |  BR Mantissa                      |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |   SSRC feedback …                                             |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
public struct ReceiverEstimatedMaximumBitRate: ~Escapable {
  private static let identifier: UInt32 = 0x5245_4D42

  /// The SSRC of the packet's sender.
  public let sender: SSRC
  /// Rates beyond 2⁶³−1 bit/s, which the format can express, are given as that.
  public let bitRate: BitRate
  private let sources: Span<UInt8>

  /// Nil when `packet` is no REMB or too short for the sources it promises.
  @_lifetime(copy packet)
  public init?(parsing packet: RTCPPacket) {
    guard packet.kind == .applicationLayerFeedback, let (sender, _) = packet.feedbackSources else { return nil }
    let information = packet.feedbackInformation
    guard information.count >= 8, information.networkOrder32(at: 0) == Self.identifier else { return nil }
    let count = Int(information[4])
    guard information.count >= 8 + 4 * count else { return nil }
    let packed = information.networkOrder24(at: 5)
    let (mantissa, exponent) = (Int64(packed & 0x3_FFFF), Int64(packed >> 18))
    let shifted = mantissa << exponent
    let fits = mantissa == 0 || exponent < mantissa.leadingZeroBitCount
    self.sender = sender
    bitRate = BitRate(bitsPerSecond: fits ? shifted : .max)
    sources = information.extracting(8..<8 + 4 * count)
  }

  /// The number of streams the estimate is for, taken together.
  public var count: Int { sources.count / 4 }

  /// Stream `index`, which must be below `count`.
  public subscript(index: Int) -> SSRC { SSRC(sources.networkOrder32(at: 4 * index)) }

  /// The whole packet's length for `sources` streams.
  public static func size(sources: Int) -> Int { 20 + 4 * sources }

  /// Writes an estimate for at most 255 streams. The rate is rounded down to 18 significant bits, negative ones to 0.
  @_lifetime(writer: copy writer)
  public static func write(
    sender: SSRC, bitRate: BitRate, sources: Span<SSRC>, into writer: inout ByteWriter
  ) {
    let rate = UInt64(max(0, bitRate.bitsPerSecond))
    let exponent = max(0, 64 - rate.leadingZeroBitCount - 18)
    writer.writeRTCPHeader(
      type: RTCPPacket.TypeCode.payloadFeedback, count: 15, bodySize: size(sources: sources.count) - 4)
    writer.write(sender.value)
    writer.write(0 as UInt32)
    writer.write(identifier)
    writer.write(UInt8(sources.count))
    writer.writeUInt24(UInt32(exponent) << 18 | UInt32(rate >> UInt64(exponent)))
    for index in sources.indices { writer.write(sources[index].value) }
  }
}
